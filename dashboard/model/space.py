"""The space that observations lie in. Today there is one, the Poincaré disk."""

from rhmm import Hyperbolic

DISK = Hyperbolic(2)
