// Package api answers the HTTP requests of the inventory service.
package api

import (
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strings"
	"time"

	"gosvc/cache"
	"gosvc/db"
)

// itemLifetime is how long an answer may be served from memory.
const itemLifetime = 2 * time.Minute

// Response is the envelope of every answer.
type Response struct {
	Data  any    `json:"data,omitempty"`
	Error string `json:"error,omitempty"`
}

// HandleRequest serves one item by the last part of its path, from memory where it can.
func HandleRequest(pool *sql.DB, store *cache.Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			WriteError(w, http.StatusMethodNotAllowed, errors.New("only GET is supported"))
			return
		}
		sku := strings.TrimPrefix(r.URL.Path, "/items/")
		if sku == "" || strings.Contains(sku, "/") {
			WriteError(w, http.StatusBadRequest, errors.New("the path must be /items/SKU"))
			return
		}
		if known, ok := store.Get(sku); ok {
			WriteJSON(w, http.StatusOK, known)
			return
		}
		rows, err := db.FetchAll(r.Context(), pool, "SELECT sku, title, stock FROM items WHERE sku = ?", sku)
		switch {
		case err != nil:
			WriteError(w, http.StatusInternalServerError, err)
		case len(rows) == 0:
			WriteError(w, http.StatusNotFound, errors.New("no such item"))
		default:
			store.Set(sku, rows[0], itemLifetime)
			WriteJSON(w, http.StatusOK, rows[0])
		}
	}
}

// WriteJSON sends a value in the common envelope.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(Response{Data: value})
	if err != nil {
		log.Printf("encode: %v", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		log.Printf("write: %v", err)
	}
}

// WriteError sends a failure in the common envelope; the cause of a server's own failure is logged, not sent.
func WriteError(w http.ResponseWriter, status int, err error) {
	message := err.Error()
	if status >= http.StatusInternalServerError {
		log.Printf("status %d: %v", status, err)
		message = http.StatusText(status)
	}
	body, marshalErr := json.Marshal(Response{Error: message})
	if marshalErr != nil {
		http.Error(w, message, status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
