"""What a text says of its table: how values are worded, where they stand, and which are missing or wrong."""
