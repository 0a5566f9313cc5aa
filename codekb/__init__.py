"""codekb."""
