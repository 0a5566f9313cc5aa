// Package auth signs, checks and withdraws bearer tokens, and guards handlers with them.
package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// ErrToken is returned for every token that must not be trusted.
var ErrToken = errors.New("invalid token")

// Claims is what a token says about its bearer.
type Claims struct {
	Subject string    `json:"sub"`
	Roles   []string  `json:"roles"`
	Expires time.Time `json:"exp"`
}

// revoked holds the withdrawn tokens until they would have run out by themselves.
var revoked = struct {
	sync.Mutex
	until map[string]time.Time
}{until: map[string]time.Time{}}

// ValidateToken checks signature, age and withdrawal, in that order.
func ValidateToken(secret []byte, token string) (*Claims, error) {
	payload, signature, found := strings.Cut(token, ".")
	if !found {
		return nil, fmt.Errorf("%w: two parts expected", ErrToken)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(payload))
	given, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(given, mac.Sum(nil)) {
		return nil, fmt.Errorf("%w: bad signature", ErrToken)
	}
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrToken, err)
	}
	claims := new(Claims)
	if err := json.Unmarshal(raw, claims); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrToken, err)
	}
	if time.Now().After(claims.Expires) {
		return nil, fmt.Errorf("%w: expired", ErrToken)
	}
	revoked.Lock()
	defer revoked.Unlock()
	if _, gone := revoked.until[token]; gone {
		return nil, fmt.Errorf("%w: revoked", ErrToken)
	}
	return claims, nil
}

// RefreshToken trades a valid token for one that lives longer; the old one stops working.
func RefreshToken(secret []byte, token string, lifetime time.Duration) (string, error) {
	claims, err := ValidateToken(secret, token)
	if err != nil {
		return "", err
	}
	renewed := Claims{Subject: claims.Subject, Roles: claims.Roles, Expires: time.Now().Add(lifetime)}
	raw, err := json.Marshal(renewed)
	if err != nil {
		return "", fmt.Errorf("encode claims: %w", err)
	}
	payload := base64.RawURLEncoding.EncodeToString(raw)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(payload))
	RevokeToken(token, claims.Expires)
	return payload + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// RevokeToken withdraws a token and forgets those whose time is over.
func RevokeToken(token string, expires time.Time) {
	revoked.Lock()
	defer revoked.Unlock()
	now := time.Now()
	for old, until := range revoked.until {
		if until.Before(now) {
			delete(revoked.until, old)
		}
	}
	revoked.until[token] = expires
}
