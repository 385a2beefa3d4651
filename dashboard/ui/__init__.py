"""The visitor's side: session, controls, job view, downloads, mounting of components."""
