"""The command line: index, search, look at the graph, measure. Every option of the facade's search is a flag here."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from codekb.encoders.base import Encoder
from codekb.evaluation import compare
from codekb.explain import explain
from codekb.hybrid import FUSIONS
from codekb.knowledge_base import GRAPHS, VIEWS, KnowledgeBase
from codekb.markup import annotation
from codekb.parsing.locate import locate
from codekb.questions import load_questions, questions_from_docstrings
from codekb.ranking import Ranking
from codekb.table import counted

PROVIDERS = ("embedded", "minilm", "openai")
OVERVIEW = """
examples:
  codekb search "how long before a request times out" --path .
  codekb search "run a command" --path networkx --package algorithms/flow --graph one_hop
  codekb index . --output .codekb && codekb search "retry" --index .codekb
"""


def parser() -> argparse.ArgumentParser:
    """The parser of every command."""
    top = argparse.ArgumentParser(
        prog="codekb", description=__doc__, epilog=OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(dest="command", required=True)
    index = commands.add_parser("index", help="index a folder or an installed package and save it")
    index.add_argument("path", help="a folder, or the import name of an installed package")
    index.add_argument("--output", required=True, help="the folder to write")
    _add_encoder(index)
    search = commands.add_parser("search", help="the best functions for a question")
    search.add_argument("query")
    _add_source(search)
    _add_encoder(search)
    _add_search(search)
    callers = commands.add_parser("graph", help="who calls a function, and whom it calls")
    callers.add_argument("id", help="a chunk id such as pkg/mod.py::Class.method, or a function's name")
    callers.add_argument("--resolve", choices=("name", "import", "type", "flow"), default="flow")
    _add_source(callers)
    benchmark = commands.add_parser("benchmark", help="the searches side by side, on questions with known answers")
    benchmark.add_argument("--questions", help="a JSON file of questions; without it, the docstrings ask")
    benchmark.add_argument("--limit", type=int, default=200, help="how many docstring questions (default 200)")
    benchmark.add_argument("--top", type=int, default=10, metavar="K", help="metrics are cut at K (default 10)")
    _add_source(benchmark)
    _add_encoder(benchmark)
    report = commands.add_parser("report", help="what was indexed, and what was skipped with its reason")
    _add_source(report)
    return top


def _add_source(command: argparse.ArgumentParser) -> None:
    source = command.add_mutually_exclusive_group()
    source.add_argument("--path", default=".", help="a folder or an installed package (default: this folder)")
    source.add_argument("--index", help="a folder written by `codekb index`, instead of --path")


def _add_encoder(command: argparse.ArgumentParser) -> None:
    command.add_argument("--provider", choices=PROVIDERS, default="embedded", help="who makes the vectors")
    command.add_argument("--model", help="the model at an OpenAI-compatible provider")
    command.add_argument("--base-url", help="a compatible server, such as http://localhost:11434/v1")


def _add_search(command: argparse.ArgumentParser) -> None:
    command.add_argument("--top", type=int, default=10, metavar="K", help="how many results (default 10)")
    command.add_argument("--package", metavar="NAMESPACE", help="only below this folder, by whole segments")
    command.add_argument("--hybrid", action=argparse.BooleanOptionalAction, default=True, help="dense and keyword")
    command.add_argument("--method", choices=("dense", "keyword", "hybrid"), help="overrides --hybrid")
    command.add_argument("--enrich", action=argparse.BooleanOptionalAction, default=True, help="search headers too")
    command.add_argument("--text", choices=VIEWS, help="the view that is searched; overrides --enrich")
    command.add_argument("--scorer", choices=("bm25", "overlap"), default="bm25")
    command.add_argument("--fusion", choices=FUSIONS)
    command.add_argument("--priors", action=argparse.BooleanOptionalAction, default=True, help="code-aware priors")
    command.add_argument("--tests", action=argparse.BooleanOptionalAction, default=True, help="tests among the results")
    command.add_argument("--graph", choices=GRAPHS, help="expand over the call graph")
    command.add_argument("--related", type=int, default=0, metavar="N", help="N graph neighbours beside the ranking")
    command.add_argument("--boost", action="append", default=[], metavar="CONCEPT", help="may be repeated")
    command.add_argument("--suppress", action="append", default=[], metavar="CONCEPT", help="may be repeated")
    command.add_argument("--strength", type=float, default=0.3)
    command.add_argument("--explain", action="store_true", help="the shares and remarks of every result")
    command.add_argument("--json", action="store_true", help="one JSON object a result")


def encoder_of(options: argparse.Namespace) -> Encoder | None:
    """The encoder that --provider names; None for the default."""
    if options.provider == "minilm":
        from codekb.encoders.minilm import MiniLMEncoder

        return MiniLMEncoder()
    if options.provider == "openai":
        from codekb.encoders.openai import OpenAIEncoder

        return OpenAIEncoder(options.model or "text-embedding-3-small", base_url=options.base_url)
    return None


def knowledge_base(options: argparse.Namespace) -> KnowledgeBase:
    """Opened from --index, or built from --path."""
    encoder = encoder_of(options) if hasattr(options, "provider") else None
    if getattr(options, "index", None):
        return KnowledgeBase.open(options.index, encoder=encoder)
    return KnowledgeBase.build(locate(options.path), encoder=encoder)


def _search(options: argparse.Namespace) -> str:
    kb = knowledge_base(options)
    ranking = kb.search(
        options.query,
        options.top,
        hybrid=options.hybrid,
        method=options.method,
        text=options.text or ("enriched" if options.enrich else "body"),
        scorer=options.scorer,
        fusion=options.fusion,
        namespace=options.package,
        priors=options.priors,
        graph=options.graph,
        boost=options.boost,
        suppress=options.suppress,
        strength=options.strength,
        include_tests=options.tests,
        related=options.related,
    )
    if options.json:
        return "\n".join(_json_lines(ranking))
    text = [_lines(ranking)] if len(ranking) else ["no result"]
    if options.explain:
        text += [repr(explain(ranking, hit.chunk.id)) for hit in ranking]
    if ranking.related is not None and len(ranking.related):
        text.append("related:\n" + _lines(ranking.related))
    return "\n\n".join(text)


def _lines(ranking: Ranking) -> str:
    """One short line a hit: score, place, name, and how a walk came there."""
    places = [hit.chunk.location for hit in ranking]
    width = max(map(len, places))
    lines = []
    for hit, place in zip(ranking, places, strict=True):
        via = f"  {annotation(hit)}" if hit.via else ""
        lines.append(f"{hit.score:6.3f}  {place:{width}}  {hit.chunk.qualname}{via}")
    return "\n".join(lines)


def _json_lines(ranking: Ranking) -> list[str]:
    return [
        json.dumps(
            {
                "id": hit.chunk.id,
                "path": hit.chunk.path,
                "start_line": hit.chunk.start_line,
                "end_line": hit.chunk.end_line,
                "score": hit.score,
                "parts": dict(hit.parts),
                "why": list(hit.why),
                "via": [[step.source, step.relation, step.target, step.line] for step in hit.via],
            }
        )
        for hit in ranking
    ]


def _index(options: argparse.Namespace) -> str:
    kb = KnowledgeBase.build(locate(options.path), encoder=encoder_of(options))
    kb.save(options.output)
    return f"{kb!r}\nsaved in {options.output}"


def _graph(options: argparse.Namespace) -> str:
    kb = knowledge_base(options)
    ids = [options.id] if options.id in kb.corpus else [c.id for c in kb.corpus if options.id in (c.name, c.qualname)]
    if not ids:
        nearest = ", ".join(kb.corpus.nearest(options.id)) or "none"
        raise KeyError(f"no chunk {options.id!r}; nearest: {nearest}")
    graph = kb.graph_by(options.resolve)
    lines: list[str] = []
    for chunk_id in ids:
        lines.append(f"{chunk_id}  ({kb.corpus[chunk_id].location})")
        lines += [
            f"  {edge['relation']} → {target}  {_why(edge)}" for _, target, edge in graph.out_edges(chunk_id, data=True)
        ]
        lines += [
            f"  {edge['relation']} ← {source}  {_why(edge)}" for source, _, edge in graph.in_edges(chunk_id, data=True)
        ]
    return "\n".join(lines)


def _why(edge: dict[str, Any]) -> str:
    line = f"line {edge['line']}, " if edge["line"] else ""
    return f"{line}{edge['reason']}, confidence {edge['confidence']:.2f}"


def _benchmark(options: argparse.Namespace) -> str:
    kb = knowledge_base(options)
    if options.questions:
        questions = load_questions(options.questions, kb.corpus)
        caption = f"{counted(len(questions), 'question')} of {options.questions}"
    else:
        questions, bare = questions_from_docstrings(kb.corpus, limit=options.limit)
        kb = KnowledgeBase(bare, kb.encoder)
        caption = f"{counted(len(questions), 'docstring')} as questions, taken out of the code"
    k = options.top
    searches = {
        "dense, body": lambda text: kb.search(text, k, hybrid=False, text="body"),
        "dense, enriched": lambda text: kb.search(text, k, hybrid=False),
        "keyword": lambda text: kb.search(text, k, method="keyword"),
        "hybrid by ranks (RRF)": lambda text: kb.search(text, k, fusion="rrf", priors=False),
        "hybrid by scores": lambda text: kb.search(text, k, priors=False),
        "default": lambda text: kb.search(text, k),
    }
    return repr(compare(searches, questions, k, caption=caption))


def _report(options: argparse.Namespace) -> str:
    kb = knowledge_base(options)
    lines = [repr(kb.corpus)]
    lines += [f"  read with a reservation: {path}: {note}" for path, note in sorted(kb.corpus.notes.items())]
    lines += [f"  skipped: {path}: {reason}" for path, reason in sorted(kb.corpus.skipped.items())]
    return "\n".join(lines)


COMMANDS = {"search": _search, "index": _index, "graph": _graph, "benchmark": _benchmark, "report": _report}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 1 with a one-line error on standard error, 2 for unusable arguments."""
    options = parser().parse_args(arguments)
    try:
        print(COMMANDS[options.command](options))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, TypeError, LookupError, RuntimeError, ImportError) as error:
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        print(f"codekb: {text}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
