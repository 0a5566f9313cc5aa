"""What is on the shelf."""
