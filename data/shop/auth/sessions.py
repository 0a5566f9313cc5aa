"""From a request's token to a user and a role."""

from auth.tokens import validate_jwt_token
from database.query import execute_query


def get_current_user(token: str) -> dict:
    """Load the user row that a session token belongs to."""
    claims = validate_jwt_token(token)
    rows = execute_query("SELECT id, email, role FROM users WHERE id = ?", (claims["sub"],))
    if not rows:
        raise LookupError(f"user {claims['sub']} no longer exists")
    return rows[0]


def require_role(token: str, role: str) -> dict:
    """Refuse everybody who does not hold `role`; administrators may do anything."""
    user = get_current_user(token)
    if user["role"] not in (role, "admin"):
        raise PermissionError(f"{user['email']} is {user['role']}, not {role}")
    return user
