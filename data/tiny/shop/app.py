"""The command line of the tiny shop."""

import functools
import logging

from shop import Cart

from . import events


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        note(function.__name__)
        return function(*args)

    return wrapper


def note(text):
    logging.debug(text)


@events.on("added")
def on_added(name):
    note(name)


@traced
def run(source, code):
    cart = Cart.load(source, code)
    return cart.title(), cart.total(), cart.cheapest().name


def report(cart, what):
    return getattr(cart, what)()


COMMANDS = {"run": run, "help": lambda *args: note("run SOURCE CODE")}


def main(argv):
    COMMANDS[argv[0]](*argv[1:])
