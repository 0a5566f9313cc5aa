"""From a cart to a payment."""

from payment.stripe import create_payment_intent


def process_checkout(cart: list[dict], customer_id: str, coupon: int = 0, transport=None) -> dict:
    """Take the cart through checkout: price it, then ask for the payment."""
    if not cart:
        raise ValueError("the cart is empty")
    amount = calculate_order_total(cart, discount_percent=coupon)
    intent = create_payment_intent(amount, "eur", customer_id, transport=transport)
    return {"amount": amount, "intent": intent["id"], "status": intent["status"]}


def calculate_order_total(items: list[dict], discount_percent: int = 0, tax_rate: float = 0.2) -> int:
    """Sum the prices in cents, take off the discount, add tax."""
    subtotal = sum(item["price"] * item.get("quantity", 1) for item in items)
    discounted = subtotal * (100 - discount_percent) / 100
    return round(discounted * (1 + tax_rate))
