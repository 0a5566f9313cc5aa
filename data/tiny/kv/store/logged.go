package store

// Logged is a Store that reports every Set.
type Logged struct {
	Store
	log func(string)
}

// NewLogged wraps a Store.
func NewLogged(s Store, log func(string)) *Logged { return &Logged{Store: s, log: log} }

// Set reports the key and passes on.
func (l *Logged) Set(key, value string) {
	l.log(key)
	l.Store.Set(key, value)
}
