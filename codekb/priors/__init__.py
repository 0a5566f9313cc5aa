"""What code says about relevance beyond words: the question taken apart, facts about the corpus, and the
rules."""

from codekb.priors.facts import CodeFacts
from codekb.priors.query import Frame, QueryProfile, analyse
from codekb.priors.rules import NAMES, PRIORS, Prior, apply_priors

__all__ = ["NAMES", "PRIORS", "CodeFacts", "Frame", "Prior", "QueryProfile", "analyse", "apply_priors"]
