"""Find where a function over the unit cube is largest.

landscape.py  what can be searched
maximise.py   argmax over any space, of one landscape or of several at once
within.py     argmax where some parameters are given
ascent.py     climbing from many starts at once
discrete.py   moves between grid points and options
joint.py      several landscapes as one
grouping.py   similar items are processed together
"""
