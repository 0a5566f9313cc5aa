"""The one open connection."""

import sqlite3

_open: dict[str, sqlite3.Connection] = {}


def get_connection(path: str = ":memory:") -> sqlite3.Connection:
    """Open the database on first use and keep the connection."""
    if path not in _open:
        _open[path] = sqlite3.connect(path)
        _open[path].row_factory = sqlite3.Row
    return _open[path]


def close_connection(path: str = ":memory:") -> None:
    """Close the connection; what is still in memory is gone."""
    connection = _open.pop(path, None)
    if connection is not None:
        connection.close()
