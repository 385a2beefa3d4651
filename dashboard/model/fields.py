"""Settings, each declared once.

A class of settings is a frozen dataclass whose fields come from `setting`. One declaration says the
default, the kind of value with its limits and sentences, the key in a link, and the control on a
page. From it follow

- the checks: an instance is always valid, other values raise `Invalid` with a sentence,
- the link: `to_query` writes it and `from_query` reads it back to the last digit,
- the controls: `dashboard.ui.controls` mounts what `Control` describes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from dashboard.model.kinds import Invalid, Kind, Known, quoted


@dataclass(frozen=True)
class Control:
    """What a page needs to let a visitor set the value."""

    widget: str
    """``number``, ``radio``, ``select``, ``slider`` over `options`, ``multiselect``, ``pills``."""
    label: str | Callable[[Any], str]
    """Fixed, or made from the settings on screen."""
    help: str | None = None
    options: tuple = ()
    names: Mapping[Any, str] | None = None
    """How the options are called on the page; None leaves them as they are."""
    accepts_others: bool = False
    """Whether a value that a link sets joins the options."""
    step: int = 1
    shown: Callable[[Any], bool] = lambda settings: True
    """Whether the settings on screen need this control."""


@dataclass(frozen=True)
class Setting:
    """All that is declared of one setting but its name and default, see `setting`."""

    key: str
    kind: Kind
    check: Callable[[Any, Known], Any] | None
    control: Control | None
    quiet: bool = False
    """Whether no link mentions it at its default, also where links mention other defaults."""

    def checked(self, value, known: Known):
        """The canonical form of the value, if it is valid beside the settings known so far."""
        value = self.kind.check(value)
        return value if self.check is None else self.check(value, known)


def setting(
    default: Any,
    key: str,
    kind: Kind,
    check: Callable[[Any, Known], Any] | None = None,
    control: Control | None = None,
    *,
    quiet: bool = False,
) -> Any:
    """A field of a class of `Settings`; its own `check` comes after that of its kind."""
    one = Setting(key, kind, check, control, quiet)
    return field(default=default, metadata={"setting": one})


@dataclass(frozen=True)
class Settings:
    """Base of the dataclasses of settings."""

    CHECKED_FIRST: ClassVar[tuple[str, ...]] = ()
    """Names of the settings that others are checked against."""
    TOGETHER: ClassVar[tuple[str, ...]] = ()
    """Names of settings that make one thing: if one of them is refused, so are the others."""
    WRITES_DEFAULTS: ClassVar[bool] = False
    """Whether a link also says what is as by default."""

    def __post_init__(self):
        known: dict[str, Any] = {}
        table = self.table()
        for name in (*self.CHECKED_FIRST, *(n for n in table if n not in self.CHECKED_FIRST)):
            try:
                known[name] = table[name].checked(getattr(self, name), known)
            except Invalid as problem:
                raise Invalid(str(problem), name) from None
            object.__setattr__(self, name, known[name])

    @classmethod
    def table(cls) -> dict[str, Setting]:
        """What is declared of each setting, by its name."""
        return {one.name: one.metadata["setting"] for one in fields(cls)}

    @classmethod
    def link_keys(cls) -> tuple[str, ...]:
        """The keys of a link that these settings read."""
        return tuple(one.key for one in cls.table().values())

    def to_query(self) -> dict[str, str]:
        """The part of a link that opens exactly these settings."""
        plain = type(self)()
        return {
            one.key: one.kind.write(getattr(self, name))
            for name, one in self.table().items()
            if (self.WRITES_DEFAULTS and not one.quiet)
            or getattr(self, name) != getattr(plain, name)
        }

    @classmethod
    def plain(cls, asked: Known) -> Self:
        """What a link that asks for these values leaves as it is."""
        return cls()

    @classmethod
    def from_query(cls, query: Mapping[str, str], **meant) -> tuple[Self, list[Invalid]]:
        """What a link asks for, and a sentence about each part of it that is not used.

        A part that cannot be read or used is left at its default. `meant` are the values of
        settings that the link can only mention.
        """
        table, values, unread = cls.table(), {}, []
        for name, one in table.items():
            if one.key in query:
                try:
                    values[name] = one.kind.read(query[one.key])
                except ValueError:
                    text = quoted(query[one.key])
                    sentence = f"Cannot read {one.key} = '{text}'; the default is used."
                    unread.append(Invalid(sentence, name))
        values |= meant
        names = {problem.field for problem in unread}
        settings, refused = cls.plain(values).accepting(values, names)
        problems = unread + [
            Invalid(f"Cannot use {table[problem.field].key}: {problem}", problem.field)
            for problem in refused
        ]
        left_out = [
            table[name].key
            for name in cls.TOGETHER
            if name not in {problem.field for problem in problems}
            and values.get(name, getattr(settings, name)) != getattr(settings, name)
        ]
        if left_out:
            listed = " and ".join(filter(None, (", ".join(left_out[:-1]), left_out[-1])))
            problems.append(Invalid(f"So {listed} cannot be used either: these go together."))
        return settings, problems

    def accepting(
        self, changes: Mapping[str, Any], unread: Collection[str] = ()
    ) -> tuple[Self, list[Invalid]]:
        """These settings with all changes that can be accepted, and what is wrong with the others.

        A change is refused alone, unless it is one of those that belong `TOGETHER`. `unread` are
        the names of settings that were to change to a value that cannot even be read.
        """
        problems: dict[str, Invalid] = {}
        if any(name in self.TOGETHER for name in unread):
            problems = self._wrong_together(changes, unread)
            changes = {n: value for n, value in changes.items() if n not in self.TOGETHER}
        while True:
            try:
                return replace(self, **changes), list(problems.values())
            except Invalid as problem:
                problems.setdefault(problem.field, problem)
                blamed = self.TOGETHER if problem.field in self.TOGETHER else (problem.field,)
            if blamed is self.TOGETHER:
                problems = {**self._wrong_together(changes), **problems}
            rest = {name: value for name, value in changes.items() if name not in blamed}
            if len(rest) == len(changes):  # a change does not go with what is there
                return self, list(problems.values())
            changes = rest

    def _wrong_together(
        self, changes: Mapping[str, Any], unread: Collection[str] = ()
    ) -> dict[str, Invalid]:
        """What is wrong with each change to the settings that belong `TOGETHER`.

        A value that is wrong still says how many states there are, so the others are checked
        beside it; what depends on one that is unread cannot be judged, and is not blamed.
        """
        table = self.table()
        known: dict[str, Any] = {}
        problems: dict[str, Invalid] = {}
        first = [name for name in self.CHECKED_FIRST if name in self.TOGETHER]
        for name in (*first, *(n for n in self.TOGETHER if n not in first)):
            if name in unread:
                continue
            value = changes.get(name, getattr(self, name))
            try:
                known[name] = table[name].checked(value, known)
            except Invalid as problem:
                known[name] = value
                if name in changes:
                    problems[name] = Invalid(str(problem), name)
            except (LookupError, TypeError):  # what it is checked against is unread or of no use
                continue
        return problems
