"""One SQLite database for the whole shop."""
