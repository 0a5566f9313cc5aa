package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Runner is a pool or a transaction.
type Runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Statement is a command with its arguments.
type Statement struct {
	Command string
	Args    []any
}

// ErrNothing is returned where one row was asked for and none is there.
var ErrNothing = errors.New("no matching row")

// Execute runs a command and says how many rows it changed.
func Execute(ctx context.Context, runner Runner, command string, args ...any) (int64, error) {
	if command == "" {
		return 0, errors.New("empty command")
	}
	result, err := runner.ExecContext(ctx, command, args...)
	if err != nil {
		return 0, fmt.Errorf("run command: %w", err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	return changed, nil
}

// QueryRow scans the one row of an answer into the targets.
func QueryRow(ctx context.Context, runner Runner, query string, args []any, targets ...any) error {
	err := runner.QueryRowContext(ctx, query, args...).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNothing
	}
	if err != nil {
		return fmt.Errorf("scan row: %w", err)
	}
	return nil
}

// FetchAll returns every row of an answer as a map from column to value.
func FetchAll(ctx context.Context, runner Runner, query string, args ...any) ([]map[string]any, error) {
	rows, err := runner.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	var found []map[string]any
	for rows.Next() {
		values := make([]any, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		row := make(map[string]any, len(columns))
		for i, column := range columns {
			row[column] = values[i]
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// Transaction runs all statements or none of them.
func Transaction(ctx context.Context, pool *sql.DB, statements []Statement) (int64, error) {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var total int64
	for i, s := range statements {
		changed, err := Execute(ctx, tx, s.Command, s.Args...)
		if err != nil {
			return 0, fmt.Errorf("statement %d: %w", i+1, err)
		}
		total += changed
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return total, nil
}
