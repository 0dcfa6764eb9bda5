"""From tables to texts: propose → derive → rules → choose → `Generation`. Start with `pipeline.py`."""
