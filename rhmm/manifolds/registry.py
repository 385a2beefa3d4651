"""The manifolds that saved models can name."""

from collections.abc import Callable
from typing import TypeVar

from rhmm.manifolds.manifold import Manifold

Kind = TypeVar("Kind", bound=type[Manifold])

_kinds: dict[str, type[Manifold]] = {}


def register_manifold(kind: Kind) -> Kind:
    """Make a manifold known by the name of its class, so that models on it can be loaded again.

    Use it as a decorator of a subclass of `Manifold`. The constructor must take the manifold's
    `size` as its only argument: a saved model holds the name and the size.
    """
    if not (isinstance(kind, type) and issubclass(kind, Manifold)):
        raise ValueError(f"kind must be a subclass of Manifold, not {kind!r}")
    known = _kinds.get(kind.__name__, kind)
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ValueError(f"kind must have a name of its own: {kind.__name__!r} is taken by {known}")
    _kinds[kind.__name__] = kind
    return kind


def registered_manifolds() -> dict[str, type[Manifold]]:
    """The classes of all registered manifolds, by name."""
    return dict(_kinds)


def manifold_named(name: str, size: int) -> Manifold:
    """The registered manifold of that name (see `Manifold.name`) and size."""
    if name not in _kinds:
        raise ValueError(
            f"name must be one of {', '.join(_kinds)}, not {name!r}; a manifold of your own is "
            "known once its class is decorated with @rhmm.register_manifold and imported"
        )
    make: Callable[[int], Manifold] = _kinds[name]
    return make(size)
