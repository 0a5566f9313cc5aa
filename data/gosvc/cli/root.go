// Package cli is the command line of the inventory service.
package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"gosvc/api"
	"gosvc/auth"
	"gosvc/cache"
	"gosvc/db"
)

// Execute runs the subcommand that the arguments name and returns its exit status.
func Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := ParseFlags(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "gosvc:", err)
		return 2
	}
	if len(opts.Args) == 0 {
		fmt.Fprintln(stderr, "gosvc: a command is missing: serve, exec or check")
		return 2
	}
	pool, err := db.Connect(ctx, opts.Driver, opts.DSN)
	if err != nil {
		fmt.Fprintln(stderr, "gosvc:", err)
		return 1
	}
	defer db.Close(pool)
	switch command, rest := opts.Args[0], opts.Args[1:]; command {
	case "serve":
		items := api.HandleRequest(pool, cache.NewStore(opts.Entries))
		guarded := auth.Authenticate([]byte(opts.Secret), auth.Authorize("reader", items))
		limited := http.TimeoutHandler(guarded, getTimeout(opts), "the service is busy")
		err = http.ListenAndServe(opts.Address, limited)
	case "exec":
		var changed int64
		if changed, err = db.Execute(ctx, pool, strings.Join(rest, " ")); err == nil {
			fmt.Fprintln(stdout, changed, "rows changed")
		}
	case "check":
		err = db.Ping(ctx, pool)
	default:
		err = fmt.Errorf("unknown command %q", command)
	}
	if err != nil {
		fmt.Fprintln(stderr, "gosvc:", err)
		return 1
	}
	return 0
}
