"""The spaces that observations may lie in: one a file, `registry` lists them."""
