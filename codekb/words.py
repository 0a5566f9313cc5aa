"""Terms for keyword search: word parts of identifiers and prose, stemmed, stop words dropped. No index."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from codekb.text import tokenize

Tokenizer = Callable[[str], Sequence[str]]
"""A text → its tokens in order, duplicates kept."""

_ENGLISH = """
a about all also am an and any are as at be because been before being both but by can could did do does doing
done during each either etc few for from further had has have having he her here his how however i if in into
is it its itself just like may me might more most my no nor not of off on once only or other our out over own
please same she should since so some such than that the their them then there these they this those through
thus to too under up upon us use used uses using very via was we were what when where whether which while who
whom whose why will with within without would you your
"""
ENGLISH = frozenset(_ENGLISH.split())
"""Function words that say nothing of a purpose. `after`, `between`, `until` stay: code is about them."""

_KEYWORDS = """
and as assert async await break case class continue def defer del elif else except exec false fallthrough
finally for from func global goto if import in is lambda none nil nonlocal not or pass raise return self cls
struct switch true try var while with yield const chan
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words of Python and Go that stand in every function. `type`, `map`, `range`, `select`, `interface` stay:
they are also what questions are about, and their low idf already holds them down."""

_WORD = re.compile(r"\w+")
_BLANKED = bytes(c if _WORD.match(chr(c)) else ord(" ") for c in range(256))
"""A byte → itself where it is a word character, else a space."""
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A light stem: plurals, `-ing`, `-ed`, final `-e`; never shorter than three letters.

    >>> [stem(w) for w in ("queries", "classes", "timeouts", "parsing", "parsed", "parse", "string", "is")]
    ['query', 'class', 'timeout', 'pars', 'pars', 'pars', 'string', 'is']
    """
    if len(word) < 4 or not word.isascii() or word.isdigit():
        return word
    return _final(_ending(_plural(word)))


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _ending(word: str) -> str:
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= 3 and _VOWEL.search(root):
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root
    return word


def _final(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@lru_cache(maxsize=1 << 17)
def word_terms(word: str) -> tuple[str, ...]:
    """The terms of one run of word characters: its stemmed parts, then the whole identifier if it has
    several parts.

    The whole identifier, lower-cased and without underscores, is what makes a question that *is* a symbol
    precise.

    >>> word_terms("getTimeouts"), word_terms("get_timeout"), word_terms("self")
    (('get', 'timeout', 'gettimeouts'), ('get', 'timeout', 'gettimeout'), ())
    """
    parts = tokenize(word)
    found = [stem(p) for p in parts if p not in ENGLISH and p not in KEYWORDS and not _noise(p)]
    if len(parts) > 1:
        found.append("".join(parts))
    return tuple(found)


def _noise(part: str) -> bool:
    return len(part) == 1 and part.isascii()


def terms(text: str) -> list[str]:
    """What BM25 reads of a text, in order, duplicates kept: the default tokenizer of `KeywordIndex`.

    >>> terms("How long before a request times out?")
    ['long', 'request', 'tim']
    """
    return [term for word in words(text) for term in word_terms(word)]


def spellings(text: str) -> dict[str, str]:
    """The terms of a text → how it first writes them: parts in lower case, whole identifiers as they stand.

    >>> spellings("retries of getTimeouts")
    {'retry': 'retries', 'of': 'of', 'get': 'get', 'timeout': 'timeouts', 'gettimeouts': 'getTimeouts'}
    """
    found: dict[str, str] = {}
    for word in words(text):
        parts = tokenize(word)
        for part in parts:
            found.setdefault(stem(part), part)
        if len(parts) > 1:
            found.setdefault("".join(parts), word)
    return found


def word_local(tokenizer: Tokenizer) -> Callable[[str], Sequence[str]] | None:
    """The same tokenizer for a single word where it treats every word by itself, else None.

    Indexing is fast for those: each distinct word is split once.
    """
    if tokenizer is terms:
        return word_terms
    return tokenize if tokenizer is tokenize else None


def words(text: str) -> list[str]:
    """Runs of word characters (`\\w+`), as written. ASCII by blanking the other characters: three times as fast.

    >>> words("for größe_2 in get_sizes(x):")
    ['for', 'größe_2', 'in', 'get_sizes', 'x']
    """
    if text.isascii():
        return text.encode("ascii").translate(_BLANKED).decode("ascii").split()
    return _WORD.findall(text)
