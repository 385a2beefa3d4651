"""A made-up chart that gives all that a chart can give: balls, and points as ellipses."""

import numpy as np


class Ellipses:
    """Points are doubled, and become ellipses that are turned as they lie around the origin."""

    measures = False

    def about(self):
        return {"name": "plane", "extent": [-2, -1, 2, 2], "axes": ["first", "second"]}

    def places(self, points):
        return 2 * np.asarray(points)

    def balls(self, means, sigmas):
        shrink = 1 - np.square(means).sum(axis=1)
        return np.column_stack([self.places(means), sigmas * shrink, sigmas * shrink / 2, sigmas])

    def glyphs(self, points):
        x, y = np.reshape(points, (-1, 2)).T
        return np.column_stack([1 + np.hypot(x, y), np.ones(len(x)), np.arctan2(y, x)])
