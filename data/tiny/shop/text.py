"""Reading a list of names."""


def clean(part):
    return part.strip()


def load(source):
    return [clean(part) for part in source.split(",")]
