"""Rules that turn a list price into the price to pay."""


class Rule:
    def apply(self, price):
        return price

    def describe(self):
        return f"rule: {self.label()}"

    def label(self):
        return "list price"


class Percent(Rule):
    def __init__(self, percent):
        self.percent = percent

    def apply(self, price):
        return super().apply(price) * (100 - self.percent) / 100

    def label(self):
        return f"{self.percent} % off"


def rule_for(code):
    if code:
        return Percent(10)
    return Rule()
