package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// defaultTimeout holds where no flag says otherwise.
const defaultTimeout = 30 * time.Second

// Options are the settings of one run.
type Options struct {
	Address string
	Driver  string
	DSN     string
	Secret  string
	Timeout string
	Entries int
	Args    []string
}

// ParseFlags reads the options from the command line; what is left over are the arguments.
func ParseFlags(args []string, output io.Writer) (*Options, error) {
	opts := &Options{}
	set := flag.NewFlagSet("gosvc", flag.ContinueOnError)
	set.SetOutput(output)
	set.StringVar(&opts.Address, "address", "localhost:8080", "where to listen")
	set.StringVar(&opts.Driver, "driver", "sqlite", "name of the SQL driver")
	set.StringVar(&opts.DSN, "dsn", "inventory.db", "data source name")
	set.StringVar(&opts.Secret, "secret", "", "key that signs the tokens")
	set.StringVar(&opts.Timeout, "timeout", "", "limit for one request, such as 10s")
	set.IntVar(&opts.Entries, "entries", 1000, "size of the cache")
	set.Usage = func() {
		fmt.Fprintln(output, "usage: gosvc [flags] serve|exec|check [arguments]")
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if strings.TrimSpace(opts.DSN) == "" {
		return nil, errors.New("flag -dsn must not be empty")
	}
	opts.Args = set.Args()
	return opts, nil
}

// getTimeout is the limit for one request.
func getTimeout(opts *Options) time.Duration {
	d, err := time.ParseDuration(opts.Timeout)
	if err != nil || d <= 0 {
		return defaultTimeout
	}
	return d
}
