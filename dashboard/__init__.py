"""What the pages share: what a visitor has set, work in the background, figures and words."""
