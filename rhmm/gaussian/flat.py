"""The Gaussian of flat spaces: d²/σ² is chi-squared."""

import numpy as np

from rhmm.gaussian.radial import Moments, RadialGaussian


class FlatGaussian(RadialGaussian):
    """The Gaussian with covariance σ² times the identity, in any flat space of `dim` dimensions."""

    def __init__(self, dim: int):
        self.dim = dim

    def moments(self, sigma):
        variance = sigma**2
        return Moments(
            log_z=0.5 * self.dim * np.log(2.0 * np.pi * variance),
            delta=self.dim * variance,
            var_d2=2.0 * self.dim * variance**2,
        )
