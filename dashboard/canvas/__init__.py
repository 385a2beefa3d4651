"""The front end: what moves on a page is drawn in the browser, sixty times a second.

A finished run travels once as one compact message; playing, stepping and zooming need no server.
`messages` makes the messages, `protocol` says how both sides talk, `program` gives the modules to
the browser. `dashboard.ui.canvases` mounts the components.
"""
