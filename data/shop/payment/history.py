"""What a customer paid so far."""

import csv
import io

from database.query import execute_query


def get_payment_history(customer_id: str, limit: int = 50) -> list[dict]:
    """The latest payments of a customer, newest first."""
    return execute_query(
        "SELECT id, amount, currency, day FROM payments WHERE customer = ? ORDER BY day DESC LIMIT ?",
        (customer_id, limit),
    )


def export_statement(customer_id: str) -> str:
    """A customer's payments as CSV, for their bookkeeping."""
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "amount", "currency", "day"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(get_payment_history(customer_id, limit=1000))
    return out.getvalue()
