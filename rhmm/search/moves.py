"""Splits and merges: how a fit that sits in a wrong optimum gets out of it.

A fit that is stuck has, as a rule, one state that explains two clusters and two states that share
one. A move splits the first and merges the others; EM then shows whether that was better. A split
or a merge alone leads from a model of N states to one of N + 1 or N − 1.
"""

import numpy as np

from rhmm.search.appraising import Appraisal
from rhmm.search.exploring import Effort, Fit, appraised, moved
from rhmm.search.sample import Sample

_LEAST_GAIN = 2.0
"""Nats that a move must gain to be made."""
_FIRST_LOOK, _SECOND_LOOKS = 8, 2
"""EM iterations after which the best of several moves are chosen, and how many of them."""


def appraise(sample: Sample, fit: Fit, rng: np.random.Generator) -> Appraisal:
    """Look at every split and every merge of a fit."""
    return appraised(sample, fit.transmat, fit.means, fit.delta, fit.prior, rng)[1]


def improved(
    sample: Sample,
    fit: Fit,
    rng: np.random.Generator,
    *,
    tried: int,
    steps: int,
    appraisal: Appraisal | None = None,
) -> Fit:
    """The fit after moves that keep N, one after another as long as one is found that gains.

    `appraisal` is that of the fit, if it is known.
    """
    effort = Effort(_SECOND_LOOKS, steps, _FIRST_LOOK)
    while True:
        appraisal = appraise(sample, fit, rng) if appraisal is None else appraisal
        found = moved(sample, fit, appraisal.moves(tried), effort)
        if found is None or found.log_likelihood <= fit.log_likelihood + _LEAST_GAIN:
            return fit
        fit, appraisal = found, None
