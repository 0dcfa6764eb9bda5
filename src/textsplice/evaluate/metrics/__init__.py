"""Metrics, one class and one file each; `textsplice.extensions.METRICS` lists them by name."""
