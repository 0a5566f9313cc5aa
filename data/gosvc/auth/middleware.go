package auth

import (
	"context"
	"net/http"
	"strings"
)

// claimsKey is the context key under which Authenticate leaves the claims.
type claimsKey struct{}

// Authenticate lets a request pass only with a valid bearer token, whose claims it leaves in the context.
func Authenticate(secret []byte, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
		if !found || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="inventory"`)
			http.Error(w, "missing bearer token", http.StatusUnauthorized)
			return
		}
		claims, err := ValidateToken(secret, strings.TrimSpace(token))
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, claims)))
	})
}

// Authorize lets a request pass only if the claims in its context name the role.
func Authorize(role string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims, ok := r.Context().Value(claimsKey{}).(*Claims)
		if !ok {
			http.Error(w, "not signed in", http.StatusUnauthorized)
			return
		}
		for _, held := range claims.Roles {
			if held == role || held == "admin" {
				next.ServeHTTP(w, r)
				return
			}
		}
		http.Error(w, "forbidden", http.StatusForbidden)
	})
}
