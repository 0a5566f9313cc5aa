"""codekb: index a repository, search it, walk its call graph, measure it. Names are imported on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codekb.store import chromem as chromem
    from codekb.chunks import Chunk, Corpus, Reference
    from codekb.encoders import Encoder, MiniLMEncoder, StaticEncoder
    from codekb.evaluation import compare
    from codekb.expansion import Limits, edge_weights, expand, pack
    from codekb.fusion import fuse_scores, rrf
    from codekb.graph import build_graph
    from codekb.knowledge_base import KnowledgeBase
    from codekb.lexical import KeywordIndex
    from codekb.parsing.locate import locate
    from codekb.parsing.repo import parse_repo
    from codekb.questions import Question, load_questions, questions_from_docstrings, questions_from_git
    from codekb.ranking import Hit, Ranking, Step
    from codekb.show import Explorer
    from codekb.store import Collection
    from codekb.structure import structure
    from codekb.table import Table
    from codekb.text import body, count_tokens, enrich, tokenize
    from codekb.vectors import VectorIndex, steer

_HOME = {
    "Chunk": "chunks", "Corpus": "chunks", "Reference": "chunks", "Collection": "store.collection",
    "Encoder": "encoders", "MiniLMEncoder": "encoders", "StaticEncoder": "encoders",
    "Explorer": "show", "Hit": "ranking", "KeywordIndex": "lexical", "KnowledgeBase": "knowledge_base",
    "Limits": "expansion", "Question": "questions", "Ranking": "ranking", "Step": "ranking", "Table": "table",
    "VectorIndex": "vectors", "body": "text", "build_graph": "graph", "compare": "evaluation",
    "count_tokens": "text", "edge_weights": "expansion", "enrich": "text", "expand": "expansion",
    "fuse_scores": "fusion", "load_questions": "questions", "locate": "parsing.locate", "pack": "expansion",
    "parse_repo": "parsing.repo", "questions_from_docstrings": "questions", "questions_from_git": "questions",
    "rrf": "fusion", "steer": "vectors", "structure": "structure", "tokenize": "text",
}  # fmt: skip

__all__ = sorted([*_HOME, "chromem"])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a plain `import codekb` loads neither FAISS nor JupyterLab's parts."""
    if name == "chromem":
        return importlib.import_module("codekb.store.chromem")
    if name not in _HOME:
        raise AttributeError(f"codekb has no {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"codekb.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
