"""Everything that reads or writes rows comes through here."""

from database.connection import get_connection


def execute_query(sql: str, parameters: tuple = ()) -> list[dict]:
    """Run one SQL statement in a transaction and return its rows as dicts."""
    connection = get_connection()
    with connection:
        cursor = connection.execute(sql, parameters)
        return [dict(row) for row in cursor.fetchall()]
