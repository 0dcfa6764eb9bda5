"""Folders of ours: what lies where in them, what made them, and what may be removed."""
