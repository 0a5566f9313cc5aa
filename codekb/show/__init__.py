"""Everything that is seen: tables, source, graphs, figures, the explorer. Only this folder knows widgets and matplotlib."""

from codekb.show.exercise import Report, check

__all__ = ["Report", "check"]
