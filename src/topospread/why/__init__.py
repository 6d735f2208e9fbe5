"""Explanations why a pod is pending or on its node, as data. `why.explain` makes one.

`render.pages.why` prints them.
"""
