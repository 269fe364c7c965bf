"""Terms: names with parameters that are declared, registered, and found by their name."""

from __future__ import annotations

import dataclasses
import difflib
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from evenrank.errors import ParameterError, UnknownNameError


@dataclasses.dataclass(frozen=True)
class ParameterRule:
    """What a parameter may be: how it reads in an error, and a function that accepts or refuses."""

    wording: str
    accept: Callable[[Any], Any]  # the value to keep, or REFUSED


REFUSED: Any = object()
LARGEST = 2**63 - 1


def rule(wording: str, accept: Callable[[Any], Any], *, optional: bool) -> ParameterRule:
    """A rule that takes None, too, where it is optional."""
    if not optional:
        return ParameterRule(wording, accept)
    return ParameterRule(f"{wording} or None", lambda value: None if value is None else accept(value))


def integer(at_least: int | None = None, *, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
            return REFUSED
        return value if at_least is None or value >= at_least else REFUSED

    return rule("an integer" + ("" if at_least is None else f" >= {at_least}"), accept, optional=optional)


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    optional: bool = False,
) -> ParameterRule:
    def accept(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return REFUSED
        if not abs(value) <= sys.float_info.max:  # an integer may be larger than any other number
            return REFUSED
        if value < low or value > high or (open_low and value == low) or (open_high and value == high):
            return REFUSED
        return float(value)

    left = "" if low == -math.inf else f" {'>' if open_low else '>='} {low:g}"
    right = "" if high == math.inf else f" {'<' if open_high else '<='} {high:g}"
    return rule("a number" + left + (" and" if left and right else "") + right, accept, optional=optional)


def grade(*, optional: bool = False) -> ParameterRule:
    """A grade of judgements: whole, as most are, or a fraction, as ratings have it."""

    def accept(value: Any) -> Any:
        if isinstance(value, float) and not value.is_integer() and math.isfinite(value) and value > 0:
            return value
        return integer(1).accept(value)

    return rule("an integer >= 1 or a fraction > 0", accept, optional=optional)


def choice(*options: str, optional: bool = False) -> ParameterRule:
    wording = "one of " + ", ".join(repr(option) for option in options)
    return rule(
        wording,
        lambda value: value if isinstance(value, str) and value in options else REFUSED,
        optional=optional,
    )


def flag(*, optional: bool = False) -> ParameterRule:
    return rule(
        "True or False", lambda value: value if isinstance(value, bool) else REFUSED, optional=optional
    )


def text(*, optional: bool = False) -> ParameterRule:
    return rule("a string", lambda value: value if isinstance(value, str) else REFUSED, optional=optional)


T = TypeVar("T", bound="Term")

KINDS = ("measure", "attention", "reranker", "system")
REGISTRY: dict[str, dict[str, type[Term]]] = {kind: {} for kind in KINDS}
ALIASES: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
LOADERS: dict[str, Callable[[str], None]] = {}  # import what declares the term of a kind that has this name


def term_of(kind: str, *, optional: bool = False) -> ParameterRule:
    """A nested term, given as a value or as its name."""

    def accept(value: Any) -> Any:
        if isinstance(value, str):
            from evenrank.grammar.reading import parse  # which reads terms, and so imports this module

            value = parse(value, kind)
        return value if isinstance(value, Term) and value.kind == kind else REFUSED

    article = "an" if kind[0] in "aeiou" else "a"
    # the few kinds of attention are named; measures are too many for that
    listed = f" ({', '.join(usual_names(kind))})" if kind == "attention" else ""
    return rule(f"{article} {kind}{listed}", accept, optional=optional)


def usual_names(kind: str) -> list[str]:
    """The terms of a kind as they are written, with the parameters that they have by default."""
    names = []
    for name, cls in REGISTRY[kind].items():
        defaults = ", ".join(f"{field.name}={field.default!r}" for field in cls.parameters())
        names.append(f"{name}({defaults})" if defaults else name)
    return names


def parameter(default: Any, rule: ParameterRule, meaning: str) -> Any:
    """Declare one parameter of a term: its default, what it may be, what it means."""
    return dataclasses.field(default=default, kw_only=True, metadata={"rule": rule, "meaning": meaning})


@dataclasses.dataclass(frozen=True, repr=False)
class Term:
    """A registered name with parameters. Subclasses are declared with ``@declare``."""

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    listed: ClassVar[str] = ""  # the parameter that holds what is given without a name, if there is one

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            rule = field.metadata.get("rule")
            if rule is None:
                continue
            given = getattr(self, field.name)
            kept = rule.accept(given)
            if kept is REFUSED:
                raise ParameterError(f"{self.name}: {field.name} must be {rule.wording}, got {given!r}")
            object.__setattr__(self, field.name, kept)

    @classmethod
    def parameters(cls) -> tuple[dataclasses.Field[Any], ...]:
        """The declared parameters, without the cut-off."""
        return tuple(f for f in dataclasses.fields(cls) if "rule" in f.metadata and f.name != "cutoff")

    @classmethod
    def describe_parameters(cls) -> dict[str, dict[str, Any]]:
        """Default, rule and meaning of each parameter, as plain data."""
        return {
            f.name: {
                "default": f.default,
                "must be": f.metadata["rule"].wording,
                "meaning": f.metadata["meaning"],
            }
            for f in cls.parameters()
        }

    def __repr__(self) -> str:
        parts = [repr(one) for one in getattr(self, self.listed)] if self.listed else []
        parts += [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in self.parameters()
            if f.name != self.listed and getattr(self, f.name) != f.default
        ]
        given = ",".join(parts)
        cutoff = getattr(self, "cutoff", None)
        return self.name + (f"({given})" if given else "") + ("" if cutoff is None else f"@{cutoff}")

    def __str__(self) -> str:
        return repr(self)

    def __matmul__(self, cutoff: int) -> Self:
        if "cutoff" not in {f.name for f in dataclasses.fields(self)}:
            raise ParameterError(f"{self.name} takes no cut-off")
        return dataclasses.replace(self, cutoff=cutoff)  # type: ignore[call-arg]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(parameter,))
def declare(cls: type[T]) -> type[T]:
    """Make a class a frozen term and enter it under its name."""
    declared = dataclasses.dataclass(frozen=True, repr=False, kw_only=True)(cls)
    if "name" not in cls.__dict__:
        declared.name = cls.__name__
    register(declared)
    return declared


def register(cls: type[Term]) -> None:
    known = REGISTRY[cls.kind]
    there = known.get(cls.name)
    # the same class again is a cell that was run twice, or a module loaded anew
    if there is not None and (there.__module__, there.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ParameterError(f"a {cls.kind} named {cls.name!r} is registered already: call yours differently")
    known[cls.name] = cls


def alias(kind: str, other_name: str, name: str) -> None:
    ALIASES[kind][other_name] = name


def unregister(kind: str, name: str) -> None:
    REGISTRY[kind].pop(name, None)


def find(name: str, kind: str) -> type[Term] | None:
    """The term of this name, whose module is loaded now where it was not needed before."""
    known, own = REGISTRY[kind], ALIASES[kind].get(name, name)
    if own not in known and kind in LOADERS:
        LOADERS[kind](own)
    return known.get(own)


def lookup(name: str, kind: str) -> type[Term]:
    found = find(name, kind)
    if found is not None:
        return found
    known = sorted(REGISTRY[kind])
    error = unknown_name(kind, name, [*known, *ALIASES[kind]])
    raise error or UnknownNameError(f"no {kind} is called {name!r}; known: {', '.join(known)}")


def unknown_name(kind: str, name: str, names: Sequence[str]) -> UnknownNameError | None:
    """The error for a name that is nearly one of these; None where none is near."""
    close = [n for n in names if n.lower() == name.lower()] or difflib.get_close_matches(name, names, 3, 0.5)
    meant = f"no {kind} is called {name!r}; did you mean {', '.join(close)}?"
    return UnknownNameError(meant) if close else None
