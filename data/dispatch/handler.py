"""The way in: one line of JSON from a client."""

from settings import load_settings
from stages import Admission, Journal
from wire import decode, encode

_lines = []


def handle_request(line):
    """Handle one request and return the answer to send back."""
    item = decode(line)
    admission = Admission(load_settings()["users"])
    journal = Journal(_lines)
    return encode(journal.apply(admission.apply(item)))
