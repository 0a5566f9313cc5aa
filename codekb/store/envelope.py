"""What may lie around a gob stream: gzip, AES-256-GCM, or gzip inside AES. Nothing about what is inside."""

from __future__ import annotations

import os
import zlib
from typing import Any

from codekb.store.errors import DamagedError, StoreError

GZIP_MAGIC = b"\x1f\x8b"
KEY_SIZE, NONCE_SIZE = 32, 12
"""AES-256-GCM as nonce, ciphertext, 16-byte tag; no associated data."""
EXPANSION = 200
LEAST_EXPANDED = 1 << 26
"""A gzip stream may grow to this many times its size, or to 64 MiB: real exports grow 2 to 20 times."""
DEFLATE_LEVEL = 6


def checked_key(key: str | bytes | None) -> bytes | None:
    """The key as bytes; None and the empty key mean no encryption."""
    secret = key.encode() if isinstance(key, str) else key
    if not secret:
        return None
    if len(secret) != KEY_SIZE:
        raise StoreError("encryption key must be 32 bytes long")
    return secret


def pack(data: bytes, *, compress: bool, secret: bytes | None) -> bytes:
    """Compress, then encrypt, as asked."""
    if compress:
        packer = zlib.compressobj(DEFLATE_LEVEL, wbits=31)
        data = packer.compress(data) + packer.flush()
    if secret is None:
        return data
    nonce = os.urandom(NONCE_SIZE)
    return nonce + bytes(_cipher(secret).encrypt(nonce, data, None))


def unpack(data: bytes, secret: bytes | None) -> bytes:
    """Decrypt where a key is given, decompress where the bytes are gzip's. Raises DamagedError."""
    if secret is not None:
        data = _decrypted(data, secret)
    if not data:
        raise DamagedError("couldn't read magic number to determine whether the stream is compressed: EOF")
    return _gunzip(data) if data.startswith(GZIP_MAGIC) else data


def _decrypted(data: bytes, secret: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    if len(data) < NONCE_SIZE:
        raise DamagedError("encrypted data too short")
    try:
        return bytes(_cipher(secret).decrypt(data[:NONCE_SIZE], data[NONCE_SIZE:], None))
    except InvalidTag:
        raise DamagedError("couldn't decrypt data: cipher: message authentication failed") from None


def _cipher(secret: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise StoreError("encrypted files need the package cryptography: pip install 'codekb[chromem]'") from None
    return AESGCM(secret)


def _gunzip(data: bytes) -> bytes:
    """All members of a gzip stream, never more than a bounded multiple of its size."""
    limit = max(LEAST_EXPANDED, EXPANSION * len(data))
    parts, size = [], 0
    while data:
        stream = zlib.decompressobj(wbits=31)
        try:
            part = stream.decompress(data, limit - size + 1)
        except zlib.error as error:
            raise DamagedError(f"couldn't decompress: {error}") from None
        size += len(part)
        if size > limit:
            raise DamagedError(f"couldn't decompress: it grows beyond {limit} bytes, which no export does")
        if not stream.eof:
            raise DamagedError("couldn't decompress: unexpected EOF")
        parts.append(part)
        data = stream.unused_data
    return b"".join(parts)
