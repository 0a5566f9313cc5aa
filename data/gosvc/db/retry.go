package db

import (
	"context"
	"fmt"
	"math/rand"
	"time"
)

// withRetry repeats an operation with growing, jittered pauses until it succeeds or the attempts are used up.
func withRetry(ctx context.Context, attempts int, operation func() error) error {
	var err error
	pause := 100 * time.Millisecond
	for attempt := 1; attempt <= attempts; attempt++ {
		if err = operation(); err == nil {
			return nil
		}
		if attempt == attempts {
			break
		}
		jitter := time.Duration(rand.Int63n(int64(pause) / 2))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause + jitter):
			pause *= 2
		}
	}
	return fmt.Errorf("giving up after %d attempts: %w", attempts, err)
}
