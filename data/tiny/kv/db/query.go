// Package db reads values from elsewhere.
package db

import "errors"

// Execute reads the value of a key and hands it over.
func Execute(key string, use func(string)) error {
	return retry(2, func() error {
		value, err := query(key)
		if err == nil {
			use(value)
		}
		return err
	})
}

func retry(times int, try func() error) error {
	err := try()
	for ; err != nil && times > 0; times-- {
		err = try()
	}
	return err
}

func query(key string) (string, error) {
	if key == "" {
		return "", errors.New("no key")
	}
	return key, nil
}
