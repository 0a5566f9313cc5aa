"""Reserving and refilling."""

from database.query import execute_query


def reserve_stock(sku: str, quantity: int) -> bool:
    """Set articles aside for a buyer; False when there are not enough left."""
    rows = execute_query(
        "UPDATE stock SET reserved = reserved + ? WHERE sku = ? AND available - reserved >= ? RETURNING sku",
        (quantity, sku, quantity),
    )
    return bool(rows)


def restock(sku: str, quantity: int) -> int:
    """Book a delivery and return the new number on the shelf."""
    execute_query(
        "INSERT INTO stock (sku, available) VALUES (?, ?)"
        " ON CONFLICT (sku) DO UPDATE SET available = available + excluded.available",
        (sku, quantity),
    )
    return execute_query("SELECT available FROM stock WHERE sku = ?", (sku,))[0]["available"]
