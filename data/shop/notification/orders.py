"""News about an order."""

from notification.email import render_template, send_email

SHIPPED = "Order $order left our warehouse and arrives in about $days days."


def notify_order_shipped(order_id: int, email: str, days: int = 3):
    """Tell the customer that the parcel is on its way."""
    return send_email(email, f"Order {order_id}", render_template(SHIPPED, order=order_id, days=days))
