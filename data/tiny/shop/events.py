"""Handlers by name, registered by a decorator."""

HANDLERS = {}


def on(name):
    def register(handler):
        HANDLERS[name] = handler
        return handler

    return register


def fire(name, *args):
    HANDLERS[name](*args)
