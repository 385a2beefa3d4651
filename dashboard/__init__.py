"""The dashboard: pages to watch the learners at work. Each folder is a room, and imports go down.

``model`` what a visitor sets; ``compute`` runs and sweeps in the background; ``text`` numbers and
sentences; ``figures`` Plotly and SVG; ``canvas`` what moves in the browser; ``server`` addresses
beside the pages; ``ui`` session, controls and mounting. Only ``ui`` and ``server`` know Streamlit.
"""
