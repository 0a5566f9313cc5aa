"""For which platforms a Go file is built: file name endings and `//go:build` lines, as a bit set of configurations."""

from __future__ import annotations

import re
from functools import lru_cache

UNIX = frozenset(
    (
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "hurd",
        "illumos",
        "ios",
        "linux",
        "netbsd",
        "openbsd",
        "solaris",
    )
)
SYSTEMS = (*sorted(UNIX), "js", "plan9", "wasip1", "windows", "zos")
MACHINES = (
    *("386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le"),
    *("riscv64", "s390x", "wasm"),
)
OFF = frozenset(("ignore", "never", "tools"))
"""Tags that by custom nobody sets."""

PLAIN = ("linux", "amd64", False)
CONFIGURATIONS = (
    PLAIN,
    *((s, m, False) for s in SYSTEMS for m in MACHINES if (s, m) != PLAIN[:2]),
    *((s, "amd64", True) for s in ("linux", "windows", "darwin")),
)
"""(system, machine, whether the project's own tags are set); bit 0 is the plain build on Linux."""

_TOKEN = re.compile(r"[\w.]+|&&|\|\||[!()]")


@lru_cache(maxsize=4096)
def configurations(path: str, constraint: str) -> int:
    """The bits of the configurations under which the file is built; 0 for one that never is.

    >>> configurations("a/open_windows.go", "") & 1, configurations("a/open.go", "//go:build !windows") & 1
    (0, 1)
    """
    ending = path.rsplit("/", 1)[-1].removesuffix(".go").removesuffix("_test").split("_")[1:][-2:]
    system = machine = ""
    if ending and ending[-1] in MACHINES:
        machine = ending.pop()
    if ending and ending[-1] in SYSTEMS:
        system = ending[-1]
    tokens = _TOKEN.findall(constraint.removeprefix("//go:build"))
    bits = 0
    for i, (s, m, own) in enumerate(CONFIGURATIONS):
        fits = (not system or s == system or (system == "linux" and s == "android")) and machine in ("", m)
        if fits and (not tokens or _holds(tokens, s, m, own)):
            bits |= 1 << i
    return bits


def _holds(tokens: list[str], system: str, machine: str, own: bool) -> bool:
    """Whether a constraint holds; one that cannot be read holds."""
    position = 0

    def either() -> bool:
        nonlocal position
        value = both()
        while position < len(tokens) and tokens[position] == "||":
            position += 1
            value = both() or value
        return value

    def both() -> bool:
        nonlocal position
        value = one()
        while position < len(tokens) and tokens[position] == "&&":
            position += 1
            value = one() and value
        return value

    def one() -> bool:
        nonlocal position
        token = tokens[position] if position < len(tokens) else ")"
        if token in (")", "&&", "||"):
            raise ValueError(f"{token!r} where a tag was expected")
        position += 1
        if token == "!":
            return not one()
        if token == "(":
            value = either()
            position += 1
            return value
        return _tag(token, system, machine, own)

    try:
        return either()
    except ValueError:
        return True


def _tag(tag: str, system: str, machine: str, own: bool) -> bool:
    if tag in SYSTEMS:
        return tag == system or (tag == "linux" and system == "android")
    if tag in MACHINES:
        return tag == machine
    if tag == "unix":
        return system in UNIX
    if tag in ("gc", "cgo") or tag.startswith("go1."):
        return True
    return own and tag not in OFF
