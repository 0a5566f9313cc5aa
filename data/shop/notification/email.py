"""Mail to customers."""

import smtplib
import string
from email.message import EmailMessage

SENDER = "shop@example.org"


def send_email(to: str, subject: str, text: str, server=None) -> EmailMessage:
    """Send one plain message over SMTP."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = SENDER, to, subject
    message.set_content(text)
    if server is not None:
        with smtplib.SMTP(server) as smtp:
            smtp.send_message(message)
    return message


def send_welcome_email(to: str) -> EmailMessage:
    """Greet a new customer."""
    return send_email(to, "Welcome", render_template("Hello $name,\nnice to have you.", name=to.split("@")[0]))


def render_template(template: str, **values: object) -> str:
    """Fill the $placeholders of a text; an unknown one is an error."""
    return string.Template(template).substitute({key: str(value) for key, value in values.items()})
