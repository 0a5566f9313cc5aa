"""What every step of the line has in common."""


class Stage:
    """One station of the assembly line: takes an item, gives one back."""

    def apply(self, item):
        """Pass the item on unchanged; subclasses say what is done to it."""
        return item

    def label(self):
        """The station's name for people."""
        return type(self).__name__.lower()
