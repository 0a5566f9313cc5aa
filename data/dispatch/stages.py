"""The two stations of this service."""

from base import Stage


class Admission(Stage):
    """Lets a request in, or turns it away."""

    def __init__(self, allowed):
        self.allowed = allowed

    def apply(self, item):
        """Turn a request away when its user is not on the list."""
        if item.get("user") not in self.allowed:
            raise PermissionError(item.get("user"))
        return {**item, "admitted": True}


class Journal(Stage):
    """Writes down what passed by."""

    def __init__(self, lines):
        self.lines = lines

    def apply(self, item):
        """Append one line and number it."""
        self.lines.append(f"{item['user']}: {item['text']}")
        return {**item, "number": len(self.lines)}
