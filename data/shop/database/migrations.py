"""The schema, one step a version."""

from database.query import execute_query

STEPS = [
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password TEXT, role TEXT DEFAULT 'customer',"
    " name TEXT, address TEXT, phone TEXT)",
    "CREATE TABLE payments (id TEXT PRIMARY KEY, customer TEXT, amount INTEGER, currency TEXT, day INTEGER)",
    "CREATE TABLE stock (sku TEXT PRIMARY KEY, available INTEGER, reserved INTEGER DEFAULT 0)",
    "CREATE TABLE revoked (fingerprint TEXT PRIMARY KEY)",
]


def run_migrations() -> int:
    """Bring the schema up to date and return how many steps were new."""
    version = execute_query("PRAGMA user_version")[0]["user_version"]
    for number, step in enumerate(STEPS[version:], start=version + 1):
        execute_query(step)
        execute_query(f"PRAGMA user_version = {number}")
    return len(STEPS) - version
