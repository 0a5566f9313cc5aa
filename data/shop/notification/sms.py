"""Text messages."""

import secrets


def send_sms_code(phone: str, gateway) -> str:
    """Send a six-digit login code to a phone and return it for the comparison."""
    code = f"{secrets.randbelow(10**6):06d}"
    gateway(phone, f"Your code is {code}. It is valid for five minutes.")
    return code
