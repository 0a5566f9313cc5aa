// Package cache keeps values in memory for a limited time.
package cache

import (
	"sync"
	"time"
)

type entry struct {
	value   any
	expires time.Time
}

// Store is a map whose entries run out; it is safe for use by several goroutines.
type Store struct {
	mu      sync.RWMutex
	entries map[string]entry
	limit   int
}

// NewStore makes an empty store for at most limit entries.
func NewStore(limit int) *Store {
	if limit < 1 {
		limit = 1
	}
	return &Store{entries: make(map[string]entry, limit), limit: limit}
}

// Set keeps a value for the given time; a full store drops what runs out first.
func (s *Store) Set(key string, value any, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.entries[key]; !known && len(s.entries) >= s.limit {
		oldest, first := "", true
		for k, e := range s.entries {
			if first || e.expires.Before(s.entries[oldest].expires) {
				oldest, first = k, false
			}
		}
		delete(s.entries, oldest)
	}
	s.entries[key] = entry{value: value, expires: time.Now().Add(ttl)}
}

// Get returns the value of a key that is there and has not run out.
func (s *Store) Get(key string) (any, bool) {
	s.mu.RLock()
	e, ok := s.entries[key]
	s.mu.RUnlock()
	if !ok {
		return nil, false
	}
	if time.Now().After(e.expires) {
		s.Delete(key)
		return nil, false
	}
	return e.value, true
}

// Delete removes one key, if it is there.
func (s *Store) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, key)
}

// Flush empties the store and says how many entries it held.
func (s *Store) Flush() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := len(s.entries)
	s.entries = make(map[string]entry, s.limit)
	return count
}
