"""codekb.show"""
