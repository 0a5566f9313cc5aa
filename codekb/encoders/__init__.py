"""codekb.encoders"""
