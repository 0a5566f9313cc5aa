"""codekb.resolve"""
