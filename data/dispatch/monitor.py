"""Is it alive, and how fast."""

import time


def format_uptime(started, now=None):
    """Hours and minutes since the start."""
    seconds = int((time.time() if now is None else now) - started)
    return f"{seconds // 3600}h {seconds % 3600 // 60}m"


def request_rate(times, window=60.0):
    """How many requests arrived in each second of the latest window."""
    if not times:
        return 0.0
    newest = max(times)
    return sum(newest - t < window for t in times) / window


def health_report(started, times):
    """A request for the health page gets this text."""
    return f"up {format_uptime(started)}, {request_rate(times):.1f} requests a second"
