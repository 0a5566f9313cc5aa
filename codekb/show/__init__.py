"""All that is seen: source, graphs, figures, the explorer. Only this folder knows widgets and matplotlib."""

from codekb.show import figures
from codekb.show.exercise import Report, check
from codekb.show.explorer import Explorer
from codekb.show.knobs import Knobs
from codekb.show.resolvers import Resolvers
from codekb.show.source import source_html

__all__ = ["Explorer", "Knobs", "Report", "Resolvers", "check", "figures", "source_html"]
