"""Runs tiny Python projects under a profiler and reports who really called whom, with codekb's ids.

Independent of codekb: ids come from compiled code objects. `python tests/dynamic_calls.py FOLDER…` runs
`main.py` of each folder and prints one JSON object (folder → list of [source, target]).
Left out, since the profiler cannot tell who called: generators and coroutines (it sees them when they are
first resumed) and calls that pass through a library's own Python frames (callbacks).
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
from collections import defaultdict
from pathlib import Path

COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
CO_OPTIMIZED = 1
"""Set on functions, not on class bodies (see `inspect.CO_OPTIMIZED`)."""
RESUMED = 0x20 | 0x80 | 0x200
"""Generators, coroutines and asynchronous generators."""


def _position(code: types.CodeType) -> tuple[int, int]:
    """Where a code object starts: its first line, and for a lambda the column of its body."""
    last = [p for p in code.co_positions() if p[0] is not None][-1]
    return (code.co_firstlineno, last[2] or 0) if code.co_name == "<lambda>" else (code.co_firstlineno, 0)


def _children(code: types.CodeType) -> list[types.CodeType]:
    return sorted((c for c in code.co_consts if isinstance(c, types.CodeType)), key=_position)


def _lambdas(code: types.CodeType) -> list[types.CodeType]:
    """The lambdas of a scope, comprehensions included, by position."""
    found = []
    for child in _children(code):
        if child.co_name == "<lambda>":
            found.append(child)
        elif child.co_name in COMPREHENSIONS:
            found += _lambdas(child)
    return sorted(found, key=_position)


class Ids:
    """Code objects → the id of the function they are (`own`), the id that owns their calls (`owner`)."""

    def __init__(self, root: Path) -> None:
        self.own: dict[tuple[str, types.CodeType], str] = {}
        self.owner: dict[tuple[str, types.CodeType], str] = {}
        for file in sorted(root.rglob("*.py")):
            path = file.relative_to(root).as_posix()
            code = compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
            found: dict[str, list[types.CodeType]] = defaultdict(list)
            self._visit(code, f"{path}::", found)
            for name, codes in found.items():
                for n, child in enumerate(sorted(codes, key=_position), 1):
                    full = name if n == 1 else f"{name}#{n}"
                    self.own[str(file), child] = full
                    self._own(child, full, str(file))
            self.owner[str(file), code] = path
            self._own(code, path, str(file))

    def _visit(self, code: types.CodeType, prefix: str, found: dict[str, list[types.CodeType]]) -> None:
        """Name every function below `code`; a comprehension is part of its scope."""
        if code.co_name not in COMPREHENSIONS:
            for n, child in enumerate(_lambdas(code), 1):
                found[f"{prefix}<lambda{n}>"].append(child)
                self._visit(child, f"{prefix}<lambda{n}>.", found)
        for child in _children(code):
            if child.co_name in COMPREHENSIONS:
                self._visit(child, prefix, found)
            elif child.co_name != "<lambda>":
                if child.co_flags & CO_OPTIMIZED:
                    found[f"{prefix}{child.co_name}"].append(child)
                self._visit(child, f"{prefix}{child.co_name}.", found)

    def _own(self, code: types.CodeType, owner: str, file: str) -> None:
        self.owner[file, code] = owner
        for child in _children(code):
            if child.co_name in COMPREHENSIONS or not child.co_flags & CO_OPTIMIZED:
                self._own(child, owner, file)


def observe(root: Path) -> list[list[str]]:
    """The (source, target) pairs seen while `root/main.py` runs, sorted."""
    ids, seen = Ids(root), set()

    def profile(frame: types.FrameType, event: str, arg: object) -> None:
        target = ids.own.get((frame.f_code.co_filename, frame.f_code)) if event == "call" else None
        if target is None or frame.f_back is None or frame.f_code.co_flags & RESUMED:
            return
        caller = frame.f_back.f_code
        source = ids.owner.get((caller.co_filename, caller))
        if source is not None:
            seen.add((source, target))

    before, path = set(sys.modules), list(sys.path)
    main = root / "main.py"
    code = compile(main.read_text(encoding="utf-8"), str(main), "exec", dont_inherit=True)
    sys.path.insert(0, str(root))
    sys.setprofile(profile)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, {"__name__": "__main__", "__file__": str(main)})
    finally:
        sys.setprofile(None)
        sys.path[:] = path
        for name in set(sys.modules) - before:
            module = sys.modules[name]
            if str(getattr(module, "__file__", None) or "").startswith(str(root)):
                del sys.modules[name]
    return sorted([s, t] for s, t in seen)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    result = {}
    for folder in sys.argv[1:]:
        try:
            result[folder] = observe(Path(folder))
        except Exception as error:
            result[folder] = [["error", f"{type(error).__name__}: {error}"]]
    print(json.dumps(result))
