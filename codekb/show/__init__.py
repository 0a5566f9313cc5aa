"""Everything that is seen: source, graphs, figures, the explorer. Only here are widgets and matplotlib known."""

from codekb.show.exercise import Report, check

__all__ = ["Report", "check"]
