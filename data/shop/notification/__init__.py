"""Messages that leave the shop."""
