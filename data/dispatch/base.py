"""What every step of the line has in common."""

from abc import ABC, abstractmethod


class Stage(ABC):
    """One station of the assembly line; subclasses only say what is done at it."""

    def __init__(self):
        self.done = 0

    def apply(self, item):
        """Check that the item fits, work on it, count it."""
        if not self.accepts(item):
            raise TypeError(f"{type(self).__name__} cannot take {item!r}")
        result = self.work(item)
        self.done += 1
        return result

    def accepts(self, item):
        """Whether the item has the shape that this station works on."""
        return isinstance(item, dict)

    @abstractmethod
    def work(self, item):
        """The station's own contribution."""
