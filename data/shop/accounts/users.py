"""Sign-up, look-up and profile changes."""

from auth.passwords import hash_password
from database.query import execute_query
from notification.email import send_welcome_email


def register_user(email: str, password: str) -> int:
    """Create an account and greet its owner."""
    if find_user_by_email(email) is not None:
        raise ValueError(f"{email} already has an account")
    execute_query("INSERT INTO users (email, password) VALUES (?, ?)", (email, hash_password(password)))
    send_welcome_email(email)
    return find_user_by_email(email)["id"]


def find_user_by_email(email: str) -> dict | None:
    """The account with this address, upper and lower case alike, or None."""
    rows = execute_query("SELECT * FROM users WHERE lower(email) = lower(?)", (email,))
    return rows[0] if rows else None


def update_profile(user_id: int, **changes: str) -> None:
    """Change the name, the address or the phone number of an account."""
    unknown = set(changes) - {"name", "address", "phone"}
    if unknown:
        raise ValueError(f"cannot change {', '.join(sorted(unknown))}")
    for column, value in changes.items():
        execute_query(f"UPDATE users SET {column} = ? WHERE id = ?", (value, user_id))
