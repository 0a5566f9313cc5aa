"""Orders, card payments and refunds."""
