"""Runs an endless stream for tests."""

import numpy as np

from dashboard.compute.endless import EndlessStream


def run(setup, until, *, pace=500, piece=10**9, tick=137):
    """All rows of the curves and all news, with news after so many observations."""
    stream, rows, told = EndlessStream(setup), {}, []
    stream.set_pace(pace)
    since = 0
    while stream.taken < until:
        since += stream.advance(min(piece, until - stream.taken))
        if since >= tick or stream.taken == until:
            news, since = stream.news(), 0
            told.append(news)
            for step, row, ceiling in zip(*news.rows, strict=True):
                rows[int(step)] = np.append(row, ceiling)
    return stream, rows, told
