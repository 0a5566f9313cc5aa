"""Configuration with defaults."""

import os

DEFAULTS = {"users": "ada,grace", "host": "127.0.0.1", "port": "7070"}


def load_settings(environment=None):
    """Read the SERVICE_ variables and fall back to the defaults."""
    environment = os.environ if environment is None else environment
    values = {key: environment.get(f"SERVICE_{key.upper()}", value) for key, value in DEFAULTS.items()}
    return {**values, "users": split_names(values["users"]), "port": int(values["port"])}


def split_names(text):
    """Names between commas, without the blanks."""
    return [name.strip() for name in text.split(",") if name.strip()]
