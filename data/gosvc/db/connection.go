// Package db talks to the SQL database of the inventory.
package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	maxOpen      = 16
	maxIdle      = 4
	idleTime     = 5 * time.Minute
	pingTime     = 3 * time.Second
	openAttempts = 5
)

// Connect opens a pool of connections and waits until the server answers.
func Connect(ctx context.Context, driver, dsn string) (*sql.DB, error) {
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pool.SetMaxOpenConns(maxOpen)
	pool.SetMaxIdleConns(maxIdle)
	pool.SetConnMaxIdleTime(idleTime)
	err = withRetry(ctx, openAttempts, func() error { return Ping(ctx, pool) })
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	return pool, nil
}

// Ping asks the server for a sign of life.
func Ping(ctx context.Context, pool *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if err := pool.PingContext(ctx); err != nil {
		return fmt.Errorf("database does not answer within %s: %w", pingTime, err)
	}
	return nil
}

// Close gives the connections back; a pool that was never opened is fine.
func Close(pool *sql.DB) error {
	if pool == nil {
		return nil
	}
	if inUse := pool.Stats().InUse; inUse > 0 {
		return fmt.Errorf("close database: %d connections still in use", inUse)
	}
	return pool.Close()
}
