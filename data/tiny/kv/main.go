// Command kv is a tiny key-value store, whose whole call graph stands in ../edges.json.
package main

import (
	"os"

	"example.com/tiny/kv/cli"
)

func main() { cli.Execute(os.Args[1:]) }
