"""Read table files, whole or in chunks, after detecting their format and dialect."""
