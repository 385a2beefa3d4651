"""What every estimator of rhmm shares: scikit-learn's conventions, for points of a manifold.

The constructor only stores its arguments, so that `clone`, `get_params`, `set_params`,
`GridSearchCV` and pipelines work; `check_options` looks at them when `fit` begins.
"""

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rhmm.manifolds import Manifold, check_manifold
from rhmm.validation import check_integer

AUTO = "auto"
"""In place of the number of states: the learner finds it."""


class Estimator(BaseEstimator):
    """An estimator whose observations are points of ``manifold``."""

    manifold: Manifold

    def check_options(self) -> None:
        """Raise a ValueError that names the first wrong argument of the constructor."""
        check_manifold(self.manifold)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        is_matrix = len(getattr(self.manifold, "point_shape", ())) == 2
        tags.input_tags.two_d_array = not is_matrix
        tags.input_tags.three_d_array = is_matrix
        tags.input_tags.allow_nan = True  # a row with NaN is a missing observation
        return tags

    def _not_fitted(self, instead: str = "call fit first") -> NotFittedError:
        return NotFittedError(f"this {type(self).__name__} has learned nothing yet: {instead}")


def check_components(name: str, value) -> int:
    """The number of hidden states or clusters."""
    return check_integer(name, value, at_least=1)
