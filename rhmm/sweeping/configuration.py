"""What a sweep varies: the method, its options and the length of the chain."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from rhmm.hmm import RiemannianHMM
from rhmm.online import OnlineRiemannianHMM
from rhmm.validation import check_choice, check_integer

METHODS = {
    "windowed": ("window", "transition_update"),
    "streaming": ("window", "memory", "init"),
    "em": (),
    "kmeans": (),
    "ceiling": (),
}
"""Every method and the options that mean something to it."""

_DEFAULTS = {"window": 200, "transition_update": "convex", "memory": "growing", "init": "kmeans"}
CHOICES = {
    "transition_update": ("convex", "paper"),
    "memory": ("growing", "fixed"),
    "init": ("kmeans", "cold"),
}


@dataclass(frozen=True)
class Configuration:
    """One way to learn a chain; two that are equal compute the same, so results can be looked up.

    Others may compute the same too: after a cold start a growing memory makes nothing of a window.

    Parameters
    ----------
    method
        ``"windowed"`` (the paper's) and ``"streaming"`` are the algorithms of
        `OnlineRiemannianHMM`; ``"em"``, ``"kmeans"``; ``"ceiling"`` learns nothing and decodes
        with the true parameters.
    length
        Observations T of the chain.
    window, transition_update, memory, init
        As for `OnlineRiemannianHMM`, with its defaults. None where they mean nothing to `method`.
    """

    method: str
    length: int = 10_000
    window: int | None = None
    transition_update: str | None = None
    memory: str | None = None
    init: str | None = None

    def __post_init__(self):
        check_choice("method", self.method, tuple(METHODS))
        self._set("length", check_integer("length", self.length, at_least=1))
        for option, default in _DEFAULTS.items():
            value = getattr(self, option)
            if option not in METHODS[self.method]:
                if value is not None:
                    raise ValueError(f"{option} means nothing to method={self.method!r}")
                continue
            self._set(option, default if value is None else value)
        for option in METHODS[self.method]:
            if option in CHOICES:
                check_choice(option, getattr(self, option), CHOICES[option])
        if self.window is not None:
            self._set("window", check_integer("window", self.window, at_least=2))
            if self.window > self.length and self.init != "cold":  # whose start needs no window
                raise ValueError(f"window must be at most length={self.length}, not {self.window}")

    def _set(self, field: str, value) -> None:
        object.__setattr__(self, field, value)  # frozen for everybody else

    @property
    def name(self) -> str:
        """A line of a table or legend; says everything but the length."""
        if self.method == "windowed":
            update = "paper's" if self.transition_update == "paper" else "convex"
            return f"windowed, {update} update, Δ={self.window}"
        if self.method == "streaming":
            cold = "cold start, " if self.init == "cold" else ""
            fixed = "fixed memory, " if self.memory == "fixed" else ""
            return f"streaming, {cold}{fixed}Δ={self.window}"
        names = {"em": "EM", "kmeans": "K-means only", "ceiling": "true parameters (the ceiling)"}
        return names[self.method]

    @property
    def family(self) -> tuple:
        """Everything but the window: what a curve against Δ has in common."""
        return self.method, self.length, self.transition_update, self.memory, self.init

    @property
    def effort(self) -> float:
        """About how long it takes, in microseconds: good enough to begin with the longest."""
        if self.method == "windowed":  # a backward pass over the window at each observation
            return (self.length - self.window) * (3.0 + 0.1 * self.window)
        return 3.0 * self.length if self.method == "streaming" else 10.0 * self.length


def grid(
    methods: Iterable[str],
    windows: Iterable[int] = (200,),
    *,
    length: int = 10_000,
    transition_updates: Iterable[str] = ("convex",),
    memories: Iterable[str] = ("growing",),
    inits: Iterable[str] = ("kmeans",),
) -> list[Configuration]:
    """Every combination that means something: EM, say, is there once, whatever the windows."""
    given = {
        "methods": methods, "windows": windows, "transition_updates": transition_updates,
        "memories": memories, "inits": inits,
    }  # fmt: skip
    for name, several in given.items():
        if isinstance(several, str) or not isinstance(several, Iterable):
            raise ValueError(f"{name} must be a list, not {several!r}")
    values = {
        "window": list(windows),
        "transition_update": list(transition_updates),
        "memory": list(memories),
        "init": list(inits),
    }
    out = []
    for method in methods:
        options = METHODS[check_choice("method", method, tuple(METHODS))]
        for chosen in product(*(values[option] for option in options)):
            out.append(Configuration(method, length, **dict(zip(options, chosen, strict=True))))
    return out


def check_grid(configurations, truth: RiemannianHMM) -> list[Configuration]:
    """The grid without repetitions, if each of it can learn the states of `truth`."""
    if not isinstance(configurations, Iterable):
        raise ValueError(f"grid must be a list of Configurations, not {configurations!r}")
    configurations = list(configurations)
    for configuration in configurations:
        if not isinstance(configuration, Configuration):
            raise ValueError(f"grid must hold Configurations, not {configuration!r}")
    if not configurations:
        raise ValueError("grid must hold at least one Configuration, it is empty")
    configurations = list(dict.fromkeys(configurations))
    n = truth.n_components
    for configuration in configurations:
        if configuration.window is not None and configuration.window < n:
            raise ValueError(
                f"window must be at least the {n} states of truth, not {configuration.window}"
            )
        least = n
        if configuration.init == "cold":
            least = OnlineRiemannianHMM(truth.manifold, n, init="cold").start_size
        if configuration.length < least:
            raise ValueError(
                f"length must be at least {least} for {configuration.name} with {n} states, "
                f"not {configuration.length}"
            )
    return configurations
