"""The cart: lines, a rule, events."""

from . import events, text
from .pricing import rule_for


class Line:
    def __init__(self, name, price):
        self.name = name
        self.price = price

    @property
    def cost(self):
        return self.price


class Cart:
    def __init__(self, code=""):
        self.rule = rule_for(code)
        self.lines = []

    @classmethod
    def load(cls, source, code=""):
        cart = cls(code)
        for name in text.load(source):
            cart.add(name, len(name))
        return cart

    def add(self, name, price):
        self.lines.append(Line(name, price))
        events.fire("added", name)

    def __iter__(self):
        return iter(self.lines)

    def total(self):
        return sum(self.rule.apply(line.cost) for line in self)

    def cheapest(self):
        return min(self.lines, key=by_cost)

    def title(self):
        return self.rule.describe()


def by_cost(line: Line):
    return line.cost
