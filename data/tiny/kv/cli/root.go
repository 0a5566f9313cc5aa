// Package cli runs the commands.
package cli

import (
	"fmt"

	"example.com/tiny/kv/db"
	"example.com/tiny/kv/store"
)

type command func(s store.Store, args []string) error

var commands = map[string]command{
	"get":  get,
	"sync": sync,
}

// Execute runs the command that the first argument names.
func Execute(args []string) {
	s := open()
	run := commands[args[0]]
	if err := run(s, args[1:]); err != nil {
		report(err.Error())
	}
}

func open() store.Store {
	return store.NewLogged(store.NewMemory(), report)
}

func get(s store.Store, args []string) error {
	report(s.Get(args[0]))
	return nil
}

func sync(s store.Store, args []string) error {
	return db.Execute(args[0], func(value string) { s.Set(args[0], value) })
}

func report(line string) { fmt.Println(line) }
