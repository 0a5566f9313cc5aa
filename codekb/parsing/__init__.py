"""codekb.parsing"""
