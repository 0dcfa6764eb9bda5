"""Policies: which splice comes next.

Start with `reference.py`, the model as plain equations. `policy.py` is what all policies share; `full/`,
`lrt/` and `copy/` hold one policy each: its kind (without torch), batches, loss, scores, and how it
proposes texts.
"""
