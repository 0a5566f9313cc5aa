"""Who a caller is and what they may do."""
