"""The grammar and the world behind the bundled corpus."""
