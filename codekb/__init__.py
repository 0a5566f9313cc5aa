"""codekb: index a repository, search it, walk its call graph, measure it. Names are imported on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codekb.chunks import Chunk, Corpus, Reference
    from codekb.encoders import Encoder, MiniLMEncoder, StaticEncoder
    from codekb.encoders.cache import VectorCache
    from codekb.encoders.openai import OpenAIEncoder
    from codekb.evaluation import compare
    from codekb.expansion import edge_weights, expand
    from codekb.explain import explain
    from codekb.fusion import fuse_scores, rrf
    from codekb.graph import build_graph
    from codekb.graph_text import structure
    from codekb.knowledge_base import KnowledgeBase
    from codekb.lexical import KeywordIndex
    from codekb.limits import Limits
    from codekb.packing import pack
    from codekb.parsing.locate import locate
    from codekb.parsing.repo import parse_repo
    from codekb.questions import Question, load_questions, questions_from_docstrings
    from codekb.questions_git import questions_from_git
    from codekb.ranking import Hit, Ranking, Step
    from codekb.show import Explorer
    from codekb.store import Collection, chromem
    from codekb.table import Table
    from codekb.text import body, count_tokens, enrich, tokenize
    from codekb.vectors import VectorIndex, steer

_HOME = {
    "Chunk": "chunks",
    "Collection": "store.collection",
    "Corpus": "chunks",
    "Encoder": "encoders",
    "Explorer": "show",
    "Hit": "ranking",
    "KeywordIndex": "lexical",
    "KnowledgeBase": "knowledge_base",
    "Limits": "limits",
    "MiniLMEncoder": "encoders",
    "OpenAIEncoder": "encoders.openai",
    "Question": "questions",
    "Ranking": "ranking",
    "Reference": "chunks",
    "StaticEncoder": "encoders",
    "Step": "ranking",
    "Table": "table",
    "VectorCache": "encoders.cache",
    "VectorIndex": "vectors",
    "body": "text",
    "build_graph": "graph",
    "compare": "evaluation",
    "count_tokens": "text",
    "edge_weights": "expansion",
    "enrich": "text",
    "expand": "expansion",
    "explain": "explain",
    "fuse_scores": "fusion",
    "load_questions": "questions",
    "locate": "parsing.locate",
    "pack": "packing",
    "parse_repo": "parsing.repo",
    "questions_from_docstrings": "questions",
    "questions_from_git": "questions_git",
    "rrf": "fusion",
    "steer": "vectors",
    "structure": "graph_text",
    "tokenize": "text",
}

__all__ = [
    "Chunk",
    "Collection",
    "Corpus",
    "Encoder",
    "Explorer",
    "Hit",
    "KeywordIndex",
    "KnowledgeBase",
    "Limits",
    "MiniLMEncoder",
    "OpenAIEncoder",
    "Question",
    "Ranking",
    "Reference",
    "StaticEncoder",
    "Step",
    "Table",
    "VectorCache",
    "VectorIndex",
    "body",
    "build_graph",
    "chromem",
    "compare",
    "count_tokens",
    "edge_weights",
    "enrich",
    "expand",
    "explain",
    "fuse_scores",
    "load_questions",
    "locate",
    "pack",
    "parse_repo",
    "questions_from_docstrings",
    "questions_from_git",
    "rrf",
    "steer",
    "structure",
    "tokenize",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: a plain `import codekb` loads neither FAISS nor widgets."""
    if name == "chromem":
        return importlib.import_module("codekb.store.chromem")
    if name not in _HOME:
        raise AttributeError(f"codekb has no {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"codekb.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
