"""Ratings by people: blinded sheets out, means, analysis of variance and intervals in."""
