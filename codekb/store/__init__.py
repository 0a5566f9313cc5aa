"""Where vectors and indexes are kept: collections, chromem-go's files, saved indexes, Milvus."""

from codekb.store import chromem
from codekb.store.collection import Collection

__all__ = ["Collection", "chromem"]
