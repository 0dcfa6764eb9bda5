"""Scores with signatures, faithfulness to the table, leaks between splits, ratings by people."""
