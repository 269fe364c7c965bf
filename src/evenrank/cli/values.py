"""What options may be: integers above 0, lists of them, and pairs of names."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from evenrank.errors import ParameterError, nearest_hint

T = TypeVar("T")


def option(read: Callable[[str], T]) -> Callable[[str], T]:
    """A reader of ours as argparse wants it: what it refuses is an error of the command line."""

    def parse(text: str) -> T:
        try:
            return read(text)
        except ParameterError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}")
    return found


def positive_number(text: str) -> float:
    found = number(text)
    if found <= 0:
        raise argparse.ArgumentTypeError(f"must be a number > 0, got {text!r}")
    return found


def not_negative(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"must be an integer >= 0, got {text!r}")
    return int(text)


def names_of(text: str) -> tuple[str, ...]:
    """
    >>> names_of("names, titles")
    ('names', 'titles')
    """
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise argparse.ArgumentTypeError(f"names nothing: {text!r}")
    return found


def check_page(path: str | None) -> None:
    if path is not None and not path.lower().endswith((".html", ".htm")):
        raise ParameterError(f"{path}: is written as a page, so its name must end in .html")


def positive(text: str) -> int:
    """An integer above 0, in plain digits."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be an integer > 0, got {text!r}")
    return int(text)


def positives(text: str) -> list[int]:
    """
    >>> positives("5, 10")
    [5, 10]
    """
    try:
        return [positive(part.strip()) for part in text.split(",")]
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be integers > 0 separated by commas, got {text!r}") from None


def pair(form: str) -> Callable[[str], tuple[str, str]]:
    """A reader of two parts with ``=`` between them, of a form such as ``RUN=RUN``."""

    def read(text: str) -> tuple[str, str]:
        first, equals, second = text.partition("=")
        if not (first.strip() and equals and second):
            raise argparse.ArgumentTypeError(f"must be {form}, got {text!r}")
        return first.strip(), second

    return read


def columns_of(text: str, roles: Sequence[str]) -> dict[str, str]:
    """``query=qid,score=sim`` as a mapping from role to column. The document may be called id as well.

    >>> columns_of("query=qid,score=sim", ("query", "document", "score"))
    {'query': 'qid', 'score': 'sim'}
    """
    from evenrank.io.column_names import one_document_role

    named: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        role, column = role.strip(), column.strip()
        if not (role and equals and column):
            raise ParameterError(f"must be ROLE=NAME,ROLE=NAME,..., got {text!r}")
        (role,) = one_document_role({role: column}, roles)
        if role not in roles:
            raise ParameterError(f"{role!r} is not a role: they are {', '.join(roles)}")
        if role in named:
            raise ParameterError(f"the {role} is named twice, in {text!r}")
        named[role] = column
    return named


class View(NamedTuple):
    """One way to look at a result, ``NAME:value:key=value``."""

    name: str
    value: str | None
    settings: dict[str, str]


def view_of(text: str, known: Mapping[str, Sequence[str]]) -> View:
    """A view by name; ``known`` has the keys that each takes, ``""`` for a plain value.

    >>> view_of("correlations:kendall:over=queries", {"correlations": ("", "over", "system")})
    View(name='correlations', value='kendall', settings={'over': 'queries'})
    >>> view_of("orders:DUO(min_grade=1)@10", {"orders": ("",)}).value
    'DUO(min_grade=1)@10'
    """
    name, *parts = text.split(":")
    if name not in known:
        raise ParameterError(f"no view is called {name!r}{nearest_hint(name, known)}")
    value: str | None = None
    settings: dict[str, str] = {}
    for part in parts:
        key, equals, given = part.partition("=")
        plain = not equals or not key.isidentifier()  # DUO(min_grade=1)@10 is a value, not a key
        if plain and "" in known[name] and value is None:
            value = part
        elif equals and key in known[name]:
            settings[key] = given
        else:
            keys = [f"{key}=.." if key else "VALUE" for key in known[name]] or ["nothing"]
            raise ParameterError(f"{text!r}: {name} takes {', '.join(keys)} behind a colon, not {part!r}")
    return View(name, value, settings)
