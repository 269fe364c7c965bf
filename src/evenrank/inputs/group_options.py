"""How the shell names groups, ``NAME=FILE`` or fields of the documents, and targets, ``NAME=TARGET``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenrank.errors import ParameterError, nearest_hint
from evenrank.inputs.file_options import STDIN, FileOption

DOCUMENTS = "documents"  # the attribute is a field of the documents
WORDS = "words"  # the groups are those of the lexicon, by the words in a document

# behind a file of groups: what people type every day, and the two that an audit prints; others need a table
KEYS = ("column", "ordinal", "values", "even", "bins", "unit", "full")
_FLAGS: dict[str, dict[str, Any]] = {
    "ordinal": {"ordinal": True},
    "full": {"multilabel": True, "split": "full"},
}
_LISTS = ("values", "even")
_ALSO = {"catalogue": "collection", "candidates": "pool", "equal": "uniform"}  # what an audit calls them
KINDS = ("uniform", "present", "pool", "collection", "relevance")


@dataclass(frozen=True)
class TargetOption:
    """What the groups of an attribute should get: a kind of target, shares, or the path of a file of them."""

    name: str
    target: Any
    path: str | None = None
    averaged: bool = False  # with the relevant documents of each query
    unknown: str | None = None  # the value of documents of which nothing is known, where averaged


def groups_of(text: str) -> list[FileOption]:
    """What ``--groups`` takes: an attribute with its file, or fields of the documents.

    >>> groups_of("reviews=reviews.csv:ordinal:values=few,many")
    [FileOption(path='reviews.csv', name='reviews', options={'ordinal': True, 'values': ['few', 'many']})]
    >>> [option.name for option in groups_of("seller_size,country")]
    ['seller_size', 'country']
    """
    name, equals, rest = text.partition("=")
    if not equals or ":" in name:
        names, *written = text.split(":")
        fields = [field.strip() for field in names.split(",")]
        if not all(fields) or not all(map(_is_option, written)):
            _refuse(written, text)
        return [FileOption(DOCUMENTS, field, _options(written, text)) for field in fields]
    parts, written = rest.split(":"), list[str]()
    while len(parts) > 1 and _is_option(parts[-1]):
        written.insert(0, parts.pop())
    path = ":".join(parts)
    if (
        len(parts) > 1
        and not Path(path).exists()
        and (parts[0] in (DOCUMENTS, WORDS) or Path(parts[0]).is_file())
    ):
        _refuse(parts[1:], text)
    if not (name.strip() and path):
        _refuse(written, text)
    return [FileOption(path, name.strip(), _options(written, text))]


def _refuse(written: Sequence[str], text: str) -> None:
    """Say what groups look like, and that what the shell has no word for is said in a table."""
    strange = next((part for part in written if not _is_option(part)), None)
    if strange is None:
        raise ParameterError(
            f"must be NAME=FILE, NAME=FILE:OPTION.. or fields of the documents, got {text!r}"
        )
    key, hint = strange.partition("=")[0], nearest_hint(strange.partition("=")[0], KEYS)
    raise ParameterError(
        f"{key!r} in {text!r} is none of the options {', '.join(KEYS)}{hint}; all others are keys of a table "
        "[groups.NAME] in the project file"
    )


def _is_option(part: str) -> bool:
    key, equals, _ = part.partition("=")
    return key in KEYS and bool(equals) == (key not in _FLAGS)


def _options(written: list[str], text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for place, part in enumerate(written):
        key, equals, given = part.partition("=")
        if key in (before.partition("=")[0] for before in written[:place]):
            raise ParameterError(f"{key} is given twice in {text!r}")
        if equals and (not given or (key in _LISTS and not all(item.strip() for item in given.split(",")))):
            raise ParameterError(f"{key}= names nothing in {text!r}")
        if key in _FLAGS:
            options |= _FLAGS[key]
        elif key == "bins":
            options[key] = _bins(given, text)
        else:
            options[key] = [item.strip() for item in given.split(",")] if key in _LISTS else given
    return options


def _bins(given: str, text: str) -> int | list[float]:
    """``4`` groups of about the same size, or ``10,50`` edges between groups; ``50,`` is one edge."""
    if given.isdecimal():
        return int(given)
    try:
        return [float(edge) for edge in given.removesuffix(",").split(",")]
    except ValueError:
        raise ParameterError(
            f"bins= is a number of groups, as bins=4, or the edges between them, as bins=10,50; got {text!r}"
        ) from None


def target_of(text: str) -> TargetOption:
    """What ``--target`` takes.

    >>> target_of("reviews=0.45,0.22,0.23,0.10").target
    [0.45, 0.22, 0.23, 0.1]
    >>> target_of("gender=f:0.4,m:0.6").target
    {'f': 0.4, 'm': 0.6}
    """
    name, equals, given = (part.strip() for part in text.partition("="))
    if not (name and equals and given):
        raise ParameterError(
            f"must be NAME={'|'.join(KINDS)}|SHARE,SHARE,..|VALUE:SHARE,VALUE:SHARE,..|FILE, got {text!r}"
        )
    given = _ALSO.get(given, given)
    if given in KINDS:
        return TargetOption(name, given)
    by_value = _shares_by_value(given, text)
    if by_value is not None:
        return TargetOption(name, by_value)
    if "," in given:
        try:
            return TargetOption(name, [float(share) for share in given.split(",")])
        except ValueError:
            pass  # a file with a comma in its name
    return TargetOption(name, None, given)


def _shares_by_value(given: str, text: str) -> dict[str, float] | None:
    """``f:0.4,m:0.6``; None where it is something else, as a file with a colon in its name."""
    shares: dict[str, float] = {}
    for part in given.split(","):
        value, _, number = part.rpartition(":")
        try:
            share = float(number)
        except ValueError:
            return None
        if not value.strip():
            return None
        if value.strip() in shares:
            raise ParameterError(f"the value {value.strip()!r} is listed twice in {text!r}")
        shares[value.strip()] = share
    return shares


def check_groups(groups: Sequence[FileOption], targets: Sequence[TargetOption]) -> None:
    """What is wrong with the options, as far as it can be seen without the files' content."""
    names = [str(given.name) for given in groups]
    problems = [
        f"--groups {name} is given twice: leave one of them out" for name in names if names.count(name) > 1
    ]
    problems += _target_problems(targets, names)
    if problems:
        raise ParameterError("\n".join(dict.fromkeys(problems)))


def _target_problems(targets: Sequence[TargetOption], names: Sequence[str]) -> Iterator[str]:
    twice = [target.name for target in targets]
    for target in targets:
        if twice.count(target.name) > 1:
            yield f"--target {target.name} is given twice: leave one of them out"
        if not is_known(target.name, names):
            lacking = next((part for part in target.name.split("*") if part not in names), target.name)
            there = f" (there are {', '.join(names)})" if names else ""
            yield (
                f"--target {target.name}: no groups are called {lacking!r}{there}: add --groups "
                f"{lacking}=FILE, or leave the target out"
            )
        if target.averaged and "*" in target.name:  # what is known of each attribute is averaged apart
            yield (
                f"--target {target.name}: single attributes are averaged; for a combination write a file of "
                "the targets that averaged_joint_targets of evenrank.data.averaged_target gives"
            )
        if target.path is not None and target.path != STDIN and not Path(target.path).exists():
            yield (
                f"--target {target.name}: {target.path!r} is not one of {', '.join(KINDS)}, not shares as "
                "0.5,0.5 or f:0.5,m:0.5, and there is no file of that name"
            )


def is_known(target: str, names: Sequence[str]) -> bool:
    """Whether groups of that name are given; a combination, ``a*b``, is known by its parts."""
    return target in names or ("*" in target and all(part in names for part in target.split("*")))
