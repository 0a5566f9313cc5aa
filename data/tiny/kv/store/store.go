// Package store keeps values by key.
package store

// Store is what the commands need.
type Store interface {
	Get(key string) string
	Set(key, value string)
}

// Memory keeps everything in a map.
type Memory struct{ values Table[string] }

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{values: NewTable[string]()} }

// Get returns the value of a key.
func (m *Memory) Get(key string) string { return m.values.Find(key) }

// Set keeps a value.
func (m *Memory) Set(key, value string) { m.values.Put(key, value) }
