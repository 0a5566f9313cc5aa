"""Password storage with salted PBKDF2."""

import hashlib
import hmac
import secrets

ROUNDS = 120_000


def hash_password(password: str) -> str:
    """Derive a salted digest that is safe to store."""
    salt = secrets.token_bytes(16)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ROUNDS)
    return f"{ROUNDS}${salt.hex()}${digest.hex()}"


def verify_password(password: str, stored: str) -> bool:
    """Check a login attempt against the stored digest in constant time."""
    rounds, salt, expected = stored.split("$")
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), bytes.fromhex(salt), int(rounds))
    return hmac.compare_digest(digest.hex(), expected)
