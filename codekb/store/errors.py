"""The errors of the store. Texts that chromem-go has are used word for word."""

from __future__ import annotations


class StoreError(ValueError):
    """A store was asked for something it refuses, or holds something that cannot be read."""


class NotFoundError(StoreError, LookupError):
    """No document has the id."""


class DamagedError(StoreError):
    """A file is not what its name, its checksum or its format says."""


class LockedError(StoreError):
    """Another process is writing to the same index."""


class ChangedError(StoreError):
    """Another process saved a newer state since this one was opened; saving would lose it."""
