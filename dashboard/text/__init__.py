"""Numbers, tables, sentences and files for people."""
