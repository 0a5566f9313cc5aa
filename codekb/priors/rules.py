"""The priors themselves: each turns scores into scores by what code says of relevance beyond words. No
retrieval."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from codekb.priors.facts import Array, CodeFacts
from codekb.priors.query import QueryProfile
from codekb.words import terms

Rule = Callable[[QueryProfile, CodeFacts, Array, float], Array]
"""(question, corpus, scores ≥ 0 with a best of about 1, weight) → new scores, same shape."""

AGREEING = 50
"""So many of the best functions vote for their files."""

VOUCHING = 10
"""So many of the best functions vouch for what they call, what calls them, and their class."""

BEHIND = 1 - 1e-9
"""As close as a neighbour comes to the score of what vouches for it."""

FADING = 0.7
"""A stack frame counts this much less than the one nearer to the error."""

BY_NAME_ALONE = 0.6
"""A dotted symbol's last name in another container: less sure than the one asked for."""

CROWD = 3
"""A name that so many functions carry is shared out: the more of them, the less it says (`__init__`,
`run`)."""


@dataclass(frozen=True, slots=True)
class Prior:
    """A rule with its default weight: 0 does nothing; for damping rules the share of the score that is
    taken away."""

    name: str
    weight: float
    rule: Rule
    says: str


def _definition(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    if not profile.symbols:
        return scores
    gain = np.zeros(len(scores))
    for symbol, sure in profile.symbols.items():
        exact, loose = facts.named(symbol)
        for found, share in ((exact, 1.0), (loose, BY_NAME_ALONE if len(exact) == 0 else 0.0)):
            if len(found) and share:
                gain[found] = np.maximum(gain[found], sure * share * min(1.0, CROWD / len(found)))
    return scores + weight * gain


def _scope(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    """A class that the question names lifts its methods, in proportion to what they scored."""
    if not profile.symbols:
        return scores
    gain = np.zeros(len(scores))
    for symbol, sure in profile.symbols.items():
        for part in symbol.lower().split("."):
            if len(found := facts.scopes.get(part, ())):
                gain[found] = np.maximum(gain[found], sure)
    return scores * (1 + weight * gain)


def _frames(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    if not profile.frames:
        return scores
    gain = np.zeros(len(scores))
    known = sorted(
        (depth, at, found)
        for at, (depth, frame) in enumerate(zip(profile.depths, profile.frames, strict=True))
        if len(found := tuple(facts.located(frame).tolist()))
    )
    for step, (_, _, found) in enumerate(known):
        places = list(found)
        gain[places] = np.maximum(gain[places], FADING**step)
    return scores + weight * gain


def _paths(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    if not profile.paths:
        return scores
    gain = np.zeros(len(scores))
    for path in profile.paths:
        gain[facts.in_file(path)] = 1.0
    return scores * (1 + weight * gain)


def _asked_terms(profile: QueryProfile) -> dict[str, float]:
    """The terms that names and paths are held against: of a report, its first line and its symbols."""
    text = profile.first_line if profile.kind == "report" else profile.text
    asked = dict.fromkeys(terms(text), 1.0)
    for symbol, sure in profile.symbols.items():
        for term in terms(symbol):
            asked[term] = max(asked.get(term, 0.0), sure)
    return asked


def _names(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    return scores * (1 + weight * facts.name_share(_asked_terms(profile)))


def _places(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    return scores * (1 + weight * facts.path_share(_asked_terms(profile)))


def _files(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    """Good functions of one file support each other: each file's best scores are summed up."""
    count = min(AGREEING, len(scores))
    best = np.argpartition(scores, len(scores) - count)[len(scores) - count :] if count else facts.file[:0]
    votes = np.bincount(facts.file[best], scores[best] ** 2, minlength=len(facts.files))
    high = float(votes.max()) if votes.size else 0.0
    return scores * (1 + weight * np.sqrt(votes / high))[facts.file] if high > 0 else scores


def _damp(side: str) -> Rule:
    def rule(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
        if side in profile.asks or not facts.present[side]:
            return scores
        return np.where(facts.side[side], scores * (1 - weight), scores)

    return rule


def _neighbours(profile: QueryProfile, facts: CodeFacts, scores: Array, weight: float) -> Array:
    """Callees, callers and fellow methods of the best functions gain by the strongest of them; tests only if asked for.

    Nothing passes the function that vouches for it, so the first place stays; what holds none of the words can come in.
    """
    count = min(VOUCHING, len(scores))
    best = np.argpartition(scores, len(scores) - count)[len(scores) - count :] if count else facts.file[:0]
    lifted = scores.copy()
    for at in best.tolist():
        if scores[at] > 0:
            evidence = facts.neighbours.evidence(at)
            near = np.flatnonzero(evidence)
            gained = scores[near] + weight * scores[at] * evidence[near]
            lifted[near] = np.maximum(lifted[near], np.minimum(gained, scores[at] * BEHIND))
    return lifted if "tests" in profile.asks else np.where(facts.side["tests"], scores, lifted)


PRIORS: tuple[Prior, ...] = (
    Prior("definition", 0.25, _definition, "defines a symbol of the question"),
    Prior("scope", 0.1, _scope, "is in a class the question names"),
    Prior("frames", 0.5, _frames, "is in the stack trace"),
    Prior("paths", 0.3, _paths, "is in a file the question names"),
    Prior("names", 0.2, _names, "its name holds the question's words"),
    Prior("places", 0.15, _places, "its path or class holds the question's words"),
    Prior("files", 0.1, _files, "other functions of its file match"),
    Prior("tests", 0.7, _damp("tests"), "is a test"),
    Prior("examples", 0.15, _damp("examples"), "is an example or a tool"),
    Prior("compat", 0.15, _damp("compat"), "is a compatibility shim"),
    Prior("generated", 0.5, _damp("generated"), "is generated"),
    Prior("stubs", 0.5, _damp("stubs"), "is an overload without a body"),
    Prior("neighbours", 0.1, _neighbours, "calls, is called by, or shares a class with a match"),
)
"""In the order they apply; the weights were chosen on the development packages (`benchmarks/tuning`), but for
`frames`: no question there holds a stack trace, so its weight is a judgement."""

NAMES = tuple(prior.name for prior in PRIORS)


def chosen(which: bool | Collection[str]) -> tuple[Prior, ...]:
    """The priors that a switch turns on: all, none, or those named."""
    if isinstance(which, bool):
        return PRIORS if which else ()
    names = [which] if isinstance(which, str) else list(which)
    if unknown := sorted(set(names) - set(NAMES)):
        raise ValueError(f"no prior {unknown}; there are {', '.join(NAMES)}")
    return tuple(prior for prior in PRIORS if prior.name in names)


def apply_priors(
    profile: QueryProfile,
    facts: CodeFacts,
    scores: Array,
    which: bool | Collection[str] = True,
    *,
    weights: Mapping[str, float] | None = None,
) -> tuple[Array, dict[str, Array]]:
    """(new scores, each prior's share: score after − score before, in the order applied).

    `scores` is aligned with `corpus.functions`, not negative, with a best of about 1. `weights` overrides
    defaults by name. A prior that changes nothing has no share.
    """
    shares: dict[str, Array] = {}
    for prior in chosen(which):
        weight = prior.weight if weights is None else weights.get(prior.name, prior.weight)
        after = prior.rule(profile, facts, scores, weight) if weight else scores
        if after is not scores:
            difference = after - scores
            if difference.any():
                shares[prior.name] = difference
                scores = after
    return scores, shares
