"""The two stations of this service."""

from base import Stage


class Admission(Stage):
    """Lets a request in, or turns it away."""

    def __init__(self, allowed):
        super().__init__()
        self.allowed = allowed

    def apply(self, item):
        """Turn away whoever is not on the list, before any work is done."""
        if item.get("user") not in self.allowed:
            raise PermissionError(item.get("user"))
        return super().apply(item)

    def work(self, item):
        return {**item, "admitted": True}


class Journal(Stage):
    """Writes down what passed by."""

    def __init__(self, lines):
        super().__init__()
        self.lines = lines

    def accepts(self, item):
        return super().accepts(item) and item.get("admitted", False)

    def work(self, item):
        self.lines.append(f"{item['user']}: {item['text']}")
        return {**item, "number": len(self.lines)}
