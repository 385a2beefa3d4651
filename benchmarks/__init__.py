"""What README claims about speed, measured side by side with other libraries in one run."""
