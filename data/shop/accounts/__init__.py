"""Customers and their details."""
