"""JSON web tokens, signed with HMAC-SHA256."""

import base64
import hashlib
import hmac
import json
import time

from database.query import execute_query

SECRET = b"only for the example shop"


def create_jwt_token(user_id: int, lifetime: int = 3600) -> str:
    """Sign a JWT that names the user and expires after `lifetime` seconds."""
    claims = {"sub": user_id, "exp": int(time.time()) + lifetime}
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=")
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=")
    signature = hmac.new(SECRET, head + b"." + payload, hashlib.sha256).digest()
    return b".".join([head, payload, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


def validate_jwt_token(token: str) -> dict:
    """Return the claims of a JWT, or raise PermissionError for a bad signature or an expired token."""
    head, payload, signature = token.encode().split(b".")
    expected = hmac.new(SECRET, head + b"." + payload, hashlib.sha256).digest()
    if not hmac.compare_digest(base64.urlsafe_b64decode(signature + b"=="), expected):
        raise PermissionError("the token was not signed by this shop")
    claims = json.loads(base64.urlsafe_b64decode(payload + b"=="))
    if claims["exp"] < time.time():
        raise PermissionError("the token has expired")
    return claims


def revoke_token(token: str) -> None:
    """Remember a token as revoked, so that it is refused before it expires."""
    fingerprint = hashlib.sha256(token.encode()).hexdigest()
    execute_query("INSERT OR IGNORE INTO revoked (fingerprint) VALUES (?)", (fingerprint,))
