package store

// Table is a map with methods.
type Table[V any] struct{ rows map[string]V }

// NewTable returns an empty Table.
func NewTable[V any]() Table[V] { return Table[V]{rows: map[string]V{}} }

// Find returns the row of a key.
func (t *Table[V]) Find(key string) V { return t.rows[key] }

// Put keeps a row.
func (t *Table[V]) Put(key string, row V) { t.rows[key] = row }
