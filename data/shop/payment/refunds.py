"""Money back."""

REFUND_DAYS = 30


def process_refund(payment: dict, today: int, amount: int | None = None) -> dict:
    """Refund a payment through Stripe, in part or in full, within thirty days of the charge."""
    if today - payment["day"] > REFUND_DAYS:
        raise ValueError(f"payment {payment['id']} is older than {REFUND_DAYS} days")
    refundable = payment["amount"] - payment.get("refunded", 0)
    amount = refundable if amount is None else amount
    if not 0 < amount <= refundable:
        raise ValueError(f"can refund at most {refundable}, not {amount}")
    return {**payment, "refunded": payment.get("refunded", 0) + amount}
