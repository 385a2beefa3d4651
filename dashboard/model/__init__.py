"""What a visitor sets: values that are checked, written into a link and read back."""
