"""A package, so that what its tests share is closed after the last of them."""
