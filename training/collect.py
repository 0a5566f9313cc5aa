"""The package lists → one file of functions with their documentation. Downloads, licences, exclusions; no training.

python collect.py --work DIR            downloads what data/packages.tsv pins, writes DIR/functions-*.jsonl.gz
python collect.py --work DIR --refresh  takes the newest versions of data/*_names.txt and rewrites packages.tsv
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from functions import Function, go_functions, python_functions
from sketch import Sketches, bands

HERE = Path(__file__).parent
PERMISSIVE = re.compile(
    r"\b(mit|bsd|apache|isc|psf|python software foundation|python-2\.0|zlib|unlicense|public domain|0bsd|"
    r"hpnd|cc0|expat|zpl|zope public|bsl-1\.0|ncsa)\b",
    re.I,
)
RESTRICTED = re.compile(
    r"gpl|general public|mozilla|\bmpl|eclipse|\bepl|cecill|proprietary|commercial|sspl|busl|elastic|server side", re.I
)
VENDORED = re.compile(
    r"(^|/)(_?vendor(ed)?|third_?party|extern(al)?s?|_vendored?_?\w*|node_modules|site-packages|deps)(/|$)"
)
EXCLUDED = re.compile(
    r"(^|/)(django|flask|requests|click|werkzeug|jinja2|httpx|rich|fastapi|starlette|pydantic|aiohttp|scrapy|networkx|model2vec|"
    r"pytest|_pytest|sphinx|sympy|astropy|xarray|seaborn|matplotlib|sklearn|pylint|cobra|pflag|viper|chi|gin|echo|mux|afero|caddy|"
    r"hugo|testify|zap|logrus|attr|attrs|boltons|celery|dask|jsonschema|marshmallow|prompt_toolkit|sqlalchemy|tornado|trio|urllib3|"
    r"black|bbolt|boltdb|fsnotify|go-git|websocket|client_golang)/",
)
"""Folders that carry a copy of a project that is measured or tuned on."""
HEAD = "language\tname\tversion\tlicence\tfunctions\tduplicates\tnear_measured\tnote\n"
Row = tuple[str, str, str, str, int, int, int, str]
MAX_FILE = 400_000
MAX_PER_PACKAGE = 3_000
"""Of larger packages a seeded sample: a few generated giants would otherwise make up most batches."""
SEED = 20261130
COPIES_SHARE, MIN_COPIES = 0.1, 10
"""A package with more near copies of measured projects is likely a fork and left out whole."""
SHARDS = 8
"""Files that the functions are written to, so that later steps can read several at once."""


def permissive(text: str) -> bool:
    """Whether a licence statement names permissive licences only.

    >>> permissive("BSD-3-Clause OR Apache-2.0"), permissive("LGPL-2.1"), permissive("")
    (True, False, False)
    """
    return bool(PERMISSIVE.search(text)) and not RESTRICTED.search(text)


def wheel_licence(archive: zipfile.ZipFile) -> str:
    """Expression, classifiers or the start of the licence field of a wheel's METADATA, on one line."""
    name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    head = archive.read(name).decode("utf-8", "replace").split("\n\n")[0]
    expression = re.findall(r"^License-Expression: (.*)$", head, re.M)
    classifiers = re.findall(r"^Classifier: License :: (?:OSI Approved :: )?(.*)$", head, re.M)
    stated = re.findall(r"^License: (.*)$", head, re.M)
    return "; ".join(expression or [c for c in classifiers if c != "OSI Approved"] or [s[:80] for s in stated])


def deb_licence(copyright_text: str) -> str:
    """The licence names of a Debian copyright file, packaging files left out."""
    names = set()
    for stanza in copyright_text.split("\n\n"):
        files = re.search(r"^Files: *(.*(?:\n .*)*)", stanza, re.M)
        licence = re.search(r"^License: *(\S.*)$", stanza, re.M)
        if files and licence and not all(f.startswith("debian/") for f in files.group(1).split()):
            names.add(licence.group(1).strip())
    return "; ".join(sorted(names))


def wheel_functions(name: str, archive: zipfile.ZipFile) -> Iterator[Function]:
    """Functions of all Python files of a wheel that are not copies of other projects."""
    for info in archive.infolist():
        if not info.filename.endswith(".py") or info.file_size > MAX_FILE or _copied(info.filename):
            continue
        yield from python_functions(name, info.filename, archive.read(info).decode("utf-8", "replace"))


def deb_functions(name: str, folder: Path) -> Iterator[Function]:
    """Functions of all Go files of an unpacked Debian package."""
    top = folder / "usr/share/gocode/src"
    for path in sorted(top.rglob("*.go")):
        relative = path.relative_to(top).as_posix()
        inner = relative.split("/", 3)[-1]
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE or _copied(inner):
            continue
        source = path.read_bytes()
        if b"DO NOT EDIT" not in source[:2000]:
            yield from go_functions(name, inner, source)


def _copied(path: str) -> bool:
    return bool(VENDORED.search(path) or EXCLUDED.search("/" + path))


def download(names: list[str], folder: Path, language: str) -> None:
    """Fetches packages (`name` or `name==version`), many at a time; one that is not to be had is left out and said."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not any(folder.glob(_pattern(name, language)))]
    for first in range(0, len(missing), AT_ONCE):
        some = missing[first : first + AT_ONCE]
        if not _fetched(some, folder, language):  # one of them fails: then each by itself
            for name in some:
                if not _fetched([name], folder, language):
                    print(f"not to be had: {name}", file=sys.stderr)


AT_ONCE = 20


def _pattern(name: str, language: str) -> str:
    """The file name that a package comes under, as a glob pattern."""
    package, _, version = name.replace("==", "=").partition("=")
    if language == "python":
        return f"{package}-{version or '*'}-*.whl"
    return f"{package}_{version.replace(':', '%3a') or '*'}_*.deb"


def _fetched(names: list[str], folder: Path, language: str) -> bool:
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", "."]
    command = pip if language == "python" else ["apt-get", "download", "-q"]
    return subprocess.run([*command, *names], cwd=folder, capture_output=True).returncode == 0


Cut = tuple[str, str, str, list[tuple[bytes, list[bytes], str]]]
"""Name, version, licence and, for each function, a key equal for copies, its sketch's bands and its JSON line."""


def wheel(path: Path) -> Cut:
    """A wheel, cut into functions; none where its licence is not permissive."""
    name, version = path.name.split("-")[:2]
    with zipfile.ZipFile(path) as archive:
        licence = wheel_licence(archive)
        found = sample(list(wheel_functions(name, archive)), name) if permissive(licence) else []
    return name, version, licence, [cut(f) for f in found]


def deb(path: Path) -> Cut:
    """A Debian package, cut into functions; none where its licence is not permissive."""
    name, version = path.name.split("_")[:2]
    out = unpack(path)
    files = list((out / "usr/share/doc").glob("*/copyright"))
    licence = deb_licence(files[0].read_text("utf-8", "replace")) if files else ""
    found = sample(list(deb_functions(name, out)), name) if permissive(licence) else []
    return name, version.replace("%3a", ":"), licence, [cut(f) for f in found]


def cut(function: Function) -> tuple[bytes, list[bytes], str]:
    """Key, bands and JSON line of one function."""
    key = hashlib.sha1(re.sub(r"\s+", "", function.code).encode("utf-8", "replace")).digest()
    return key, bands(function.code), json.dumps(function.as_dict())


def unpack(deb: Path) -> Path:
    """The folder that holds the files of a Debian package."""
    out = deb.parent / "unpacked" / deb.name.split("_")[0]
    if not out.exists():
        out.parent.mkdir(exist_ok=True)
        subprocess.run(["dpkg", "-x", str(deb), str(out)], check=True)
    return out


def measured(work: Path, language: str) -> Sketches:
    """Sketches of every function of the projects that are measured or tuned on: nothing near to them is trained on."""
    sketches = Sketches()
    for path in sorted((work / "excl").glob("*.whl")) if language == "python" else ():
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.endswith(".py") and info.file_size <= 4 * MAX_FILE:
                    for f in python_functions(path.name, info.filename, archive.read(info).decode("utf-8", "replace")):
                        sketches.add(f.code)
    for path in sorted((work / "exclgo").glob("*.deb")) if language == "go" else ():
        out = unpack(path)
        for source in sorted(out.rglob("*.go")):
            if source.is_file():
                for f in go_functions(path.name, source.name, source.read_bytes()):
                    sketches.add(f.code)
    return sketches


def collect(work: Path, language: str) -> list[Row]:
    """Writes functions-LANGUAGE-SHARD.jsonl.gz; returns for each package version, licence and what was kept."""
    forbidden = measured(work, language)
    seen: set[bytes] = set()
    reader: Callable[[Path], Cut] = wheel if language == "python" else deb
    paths = sorted((work / "dl").glob("*.whl") if language == "python" else (work / "go").glob("*.deb"))
    rows: list[Row] = []
    whole = [work / f"functions-{language}-{number}.jsonl.gz" for number in range(SHARDS)]
    parts = [path.with_suffix(".part") for path in whole]
    with ExitStack() as stack, ProcessPoolExecutor(2) as pool:
        outs = [stack.enter_context(gzip.open(part, "wt", compresslevel=2, encoding="utf-8")) for part in parts]
        for name, version, licence, functions in pool.map(reader, paths, chunksize=4):
            fresh: dict[bytes, str] = {}
            double = near = 0
            for key, sketch, line in functions:
                if key in seen or key in fresh:
                    double += 1
                elif forbidden.near(sketch):
                    near += 1
                else:
                    fresh[key] = line
            seen.update(fresh)
            note = "" if permissive(licence) else "left out: licence"
            if near >= MIN_COPIES and near > COPIES_SHARE * (near + len(fresh)):
                fresh, note = {}, "left out: copies of measured projects"
            outs[shard(name)].writelines(line + "\n" for line in fresh.values())
            rows.append((language, name, version, " ".join(licence.split()), len(fresh), double, near, note))
            print(*rows[-1], sep="\t", flush=True)
    for part, path in zip(parts, whole, strict=True):
        part.rename(path)
    return rows


def shard(package: str) -> int:
    """The file that a package's functions are in: by name, so that all of them are together."""
    return zlib.crc32(package.encode()) % SHARDS


def sample(functions: list[Function], name: str) -> list[Function]:
    """All functions, or of a large package at most MAX_PER_PACKAGE, documented ones first."""
    if len(functions) <= MAX_PER_PACKAGE:
        return functions
    rng = random.Random(f"{SEED} {name}")
    documented = [f for f in functions if f.doc]
    rest = [f for f in functions if not f.doc]
    chosen = rng.sample(documented, min(len(documented), MAX_PER_PACKAGE))
    return chosen + rng.sample(rest, min(len(rest), MAX_PER_PACKAGE - len(chosen)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and results, outside the tree")
    parser.add_argument("--refresh", action="store_true", help="newest versions of the name lists, not the pinned ones")
    parser.add_argument("--no-download", action="store_true", help="use what lies in the work folder already")
    options = parser.parse_args()
    started = time.monotonic()
    if not options.no_download:
        for language, folder, held in (("python", "dl", "excl"), ("go", "go", "exclgo")):
            names = (HERE / "data" / f"{language}_names.txt").read_text().split()
            if not options.refresh:
                pins = [r.split("\t") for r in (HERE / "data" / "packages.tsv").read_text().splitlines()[1:]]
                joiner = {"python": "==", "go": "="}[language]
                names = [f"{r[1]}{joiner}{r[2]}" for r in pins if r[0] == language and not r[7]]
            download(names, options.work / folder, language)
            download((HERE / "data" / f"{language}_measured.txt").read_text().split(), options.work / held, language)
        print(f"downloads: {time.monotonic() - started:.0f} s", flush=True)
    rows = [row for language in ("python", "go") for row in collect(options.work, language)]
    listed = HERE / "data" / "packages.tsv"
    if options.refresh:
        listed.write_text(HEAD + "".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    else:
        found = ["\t".join(map(str, row)) for row in rows]
        other = set(found) ^ {r for r in listed.read_text().splitlines()[1:] if not r.split("\t")[7]}
        print(f"{len(found)} packages; {len(other)} lines differ from the list", *sorted(other), sep="\n", flush=True)


if __name__ == "__main__":
    main()
