"""codekb.store"""
