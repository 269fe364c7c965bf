"""How groups are named: ``NAME=FILE[:option..]``, fields of the documents, and targets ``NAME=..``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.inputs.several_files import attempt

if TYPE_CHECKING:
    from evenrank.data.membership import Membership

DOCUMENTS = "documents"  # the attribute is a field of the documents
WORDS = "words"  # the groups are those of the lexicon, by the words in a document

_FLAGS: dict[str, dict[str, Any]] = {
    "ordinal": {"ordinal": True},
    "multilabel": {"multilabel": True},
    "full": {"multilabel": True, "split": "full"},
    "own": {"unlabelled": "own"},
    "votes": {"votes": True},
    "intents": {"intents": True},
    "iteration": {"iteration": True},
}
_LISTS = ("values", "even", "ignore")
_NAMES = ("column", "format", "probabilities", "error", "unit")
_COLUMNS = ("document", "query", "share", "rater")
_SETTINGS = (*_LISTS, *_NAMES, *_COLUMNS, "bins")
AVERAGED = "averaged"  # the mean of the relevant documents' shares and of those behind the colon
_ALSO = {"catalogue": "collection", "candidates": "pool", "equal": "uniform"}  # what an audit calls them
_KINDS = ("uniform", "present", "pool", "collection", "relevance")


@dataclass(frozen=True)
class GroupsOption:
    """One ``--groups``: the attribute, its file, and how to read it."""

    name: str
    path: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TargetOption:
    """One ``--target``: a kind of target, shares, or the path of a file of them."""

    name: str
    target: Any
    path: str | None = None
    averaged: bool = False  # with the relevant documents of each query
    unknown: str | None = None  # the value of documents of which nothing is known, where averaged


def groups_of(text: str) -> list[GroupsOption]:
    """What ``--groups`` takes: an attribute with its file, or fields of the documents.

    >>> groups_of("reviews=reviews.csv:ordinal:values=few,many")
    [GroupsOption(name='reviews', path='reviews.csv', options={'ordinal': True, 'values': ['few', 'many']})]
    >>> [option.name for option in groups_of("seller_size,country")]
    ['seller_size', 'country']
    """
    before = text.partition(":")[0]
    if "=" not in before:
        fields = [field.strip() for field in before.split(",")]
        written: list[str] = text.split(":")[1:]
        if not all(fields) or not all(map(_is_option, written)):
            raise ParameterError(f"must be NAME=FILE[:OPTION..], or fields of the documents, got {text!r}")
        return [GroupsOption(field, DOCUMENTS, _options(written, text)) for field in fields]
    name, equals, rest = text.partition("=")
    parts = rest.split(":")
    written = []
    while len(parts) > 1 and _is_option(parts[-1]):
        written.insert(0, parts.pop())
    path = ":".join(parts)
    if not (name.strip() and equals and path):
        raise ParameterError(f"must be NAME=FILE or NAME=FILE:OPTION:.., got {text!r}")
    return [GroupsOption(name.strip(), path, _options(written, text))]


def _is_option(part: str) -> bool:
    key, equals, _ = part.partition("=")
    return part in _FLAGS or (bool(equals) and key in _SETTINGS)


def _options(written: list[str], text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    seen: set[str] = set()
    for part in written:
        key, _, given = part.partition("=")
        if key in seen:
            raise ParameterError(f"{key} is given twice in {text!r}")
        seen.add(key)
        if part in _FLAGS:
            options |= _FLAGS[part]
            continue
        if not given or (key in _LISTS and not all(item.strip() for item in given.split(","))):
            raise ParameterError(f"{key}= names nothing in {text!r}")
        if key == "bins":
            options[key] = _bins(given, text)
        elif key in _LISTS:
            options[key] = [item.strip() for item in given.split(",")]
        elif key in _COLUMNS:
            options.setdefault("columns", {})[key] = given
        else:
            options[key] = given
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
    >>> target_of("place=averaged:uniform:unknown=?")
    TargetOption(name='place', target='uniform', path=None, averaged=True, unknown='?')
    """
    name, equals, given = (part.strip() for part in text.partition("="))
    if name and given.partition(":")[0] == AVERAGED:
        world, _, unknown = given.removeprefix(AVERAGED).removeprefix(":").partition("unknown=")
        found = target_of(f"{name}={world.removesuffix(':') or 'collection'}")
        return replace(found, averaged=True, unknown=unknown or None)
    if not (name and equals and given):
        kinds = "|".join((*_KINDS, AVERAGED))
        raise ParameterError(
            f"must be NAME={kinds}|SHARE,SHARE,..|VALUE:SHARE,VALUE:SHARE,..|FILE, got {text!r}"
        )
    given = _ALSO.get(given, given)
    if given in _KINDS:
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


def check_groups(groups: Sequence[GroupsOption], targets: Sequence[TargetOption]) -> None:
    """What is wrong with the options, as far as it can be seen without the files' content."""
    problems = [*_group_problems(groups), *_target_problems(targets, [given.name for given in groups])]
    if problems:
        raise ParameterError("\n".join(dict.fromkeys(problems)))


def _group_problems(groups: Sequence[GroupsOption]) -> Iterator[str]:
    names = [given.name for given in groups]
    for given in groups:
        if names.count(given.name) > 1:
            yield f"--groups {given.name} is given twice: leave one of them out"
        file, colon, last = given.path.rpartition(":")
        if colon and not Path(given.path).exists() and Path(file).exists():
            known = ", ".join([*_FLAGS, *(f"{key}=.." for key in _SETTINGS)])
            yield f"--groups {given.name}: there is no option {last!r}; the options are {known}"


def _target_problems(targets: Sequence[TargetOption], names: Sequence[str]) -> Iterator[str]:
    twice = [target.name for target in targets]
    for target in targets:
        if twice.count(target.name) > 1:
            yield f"--target {target.name} is given twice: leave one of them out"
        if not _is_known(target.name, names):
            lacking = next((part for part in target.name.split("*") if part not in names), target.name)
            there = f" (there are {', '.join(names)})" if names else ""
            yield (
                f"--target {target.name}: no groups are called {lacking!r}{there}: add --groups "
                f"{lacking}=FILE, or leave the target out"
            )
        if target.averaged and "*" in target.name:  # what is known of each attribute is averaged apart
            yield (
                f"--target {target.name}={AVERAGED}: averages single attributes; for a combination write a "
                "file of the targets that averaged_joint_targets of evenrank.data.averaged_target gives"
            )
        if target.path is not None and target.path != "-" and not Path(target.path).exists():
            yield (
                f"--target {target.name}: {target.path!r} is not one of {', '.join(_KINDS)}, not shares as "
                "0.5,0.5 or f:0.5,m:0.5, and there is no file of that name"
            )


def _is_known(target: str, names: Sequence[str]) -> bool:
    """Whether groups of that name are given; a combination, ``a*b``, is known by its parts."""
    return target in names or ("*" in target and all(part in names for part in target.split("*")))


@dataclass(frozen=True)
class GroupSources:
    """What groups can be taken from besides files of their own."""

    documents: Any = None  # a file, or a table
    format: str | None = None
    columns: Mapping[str, str] | None = None
    words: Any = None  # WordCounts
    document: str | None = None  # what the column of documents is called in the files of the command
    qrels: Any = None  # judgements, for targets that come from relevant documents


def memberships(
    groups: Sequence[GroupsOption], targets: Sequence[TargetOption], known: GroupSources
) -> list[Membership]:
    """The groups of all ``--groups``, with the targets of ``--target``.

    A target for a combination, ``--target 'a*b=..'``, adds the combination.
    """
    attempt(partial(check_groups, groups, targets))
    if not groups:
        return []
    from evenrank.data.membership import Membership

    found = {given.name: attempt(partial(_membership, given, known)) for given in groups}
    if any(membership is None for membership in found.values()):  # reported with what is wrong elsewhere
        return []
    for target in targets:
        if target.name in found:
            found[target.name] = attempt(partial(_with_target, found[target.name], target, known.qrels))
    for target in targets:
        if target.name not in found and _is_known(target.name, list(found)):
            parts = [found[part] for part in target.name.split("*")]
            combined = Membership.combined(*parts, target="uniform")
            found[target.name] = _with_target(combined, target, known.qrels)
    return list(found.values())


def _membership(given: GroupsOption, known: GroupSources) -> Membership:
    """The groups of one option; with error rates, what its labels probably mean."""
    rates = given.options.get("error")
    if rates is None:
        return _labelled(given, known)
    if given.options.get("votes"):
        raise ParameterError(
            f"--groups {given.name}: error= goes with one label for each document, not with votes: leave out "
            "one of the two"
        )
    from evenrank.data.label_error import corrected
    from evenrank.io.label_rates import read_rates

    labels = {key: value for key, value in given.options.items() if key != "error"}
    found = _labelled(replace(given, options=labels), known)
    return corrected(found, read_rates(rates, found.attribute))


def _labelled(given: GroupsOption, known: GroupSources) -> Membership:
    from evenrank.data.membership import Membership
    from evenrank.io.groups import read_groups

    if given.path == WORDS:
        if known.words is None:
            raise ParameterError(
                f"--groups {given.name}=words takes the word counts of --words: add that option"
            )
        return Membership.from_words(known.words, given.name)
    if given.options.get("intents") or given.options.get("iteration"):
        return _judged_groups(given)
    if "probabilities" in given.options:
        raise ParameterError(f"--groups {given.name}: probabilities= goes with :intents")
    if given.path != DOCUMENTS:
        return read_groups(given.path, given.name, **_shared(given.options, known.document))
    if known.documents is None:
        own = f"COLUMN={given.name}" if Path(given.name).is_file() else f"{given.name}=FILE"
        raise ParameterError(
            f"groups={given.name!r} (--groups {given.name}): is this a field of the documents? Then add "
            f"documents= (--documents FILE); a file of its own is written {own}"
        )
    options = {"column": given.name, "format": known.format, **given.options}
    options["columns"] = {**(known.columns or {}), **given.options.get("columns", {})} or None
    return read_groups(known.documents, given.name, **options)


def _judged_groups(given: GroupsOption) -> Membership:
    """Groups that judgements name in their second column: the intents of each query, or groups for all."""
    from evenrank.io.intents import read_intent_groups, read_iteration_groups

    flag = "intents" if given.options.get("intents") else "iteration"
    takes = {flag, "format", "probabilities"} if flag == "intents" else {flag, "format"}
    others = sorted(set(given.options) - takes)
    if others or given.path in (DOCUMENTS, WORDS):
        raise ParameterError(
            f"--groups {given.name}: :{flag} is for a file of judgements"
            + (f" and goes without {', '.join(others)}" if others else "")
        )
    format = given.options.get("format")
    if flag == "iteration":
        return read_iteration_groups(given.path, given.name, format=format)
    chances = given.options.get("probabilities")
    return read_intent_groups(given.path, given.name, probabilities=chances, format=format)


def _shared(options: Mapping[str, Any], document: str | None) -> dict[str, Any]:
    """The options of a file, with the command's name for the column of documents unless it has its own."""
    from evenrank.io.column_names import SharedColumns

    own = options.get("columns", {})
    if document is None or "document" in own:
        return dict(options)
    return {**options, "columns": SharedColumns({"document": document, **own})}


def _with_target(membership: Membership, target: TargetOption, qrels: Any) -> Membership:
    from evenrank.io.targets import read_target

    if not target.averaged:
        path = target.path
        return membership.with_target(
            target.target if path is None else read_target(path, membership.attribute)
        )
    from evenrank.data.averaged_target import averaged_targets

    if qrels is None:
        raise ParameterError(f"--target {target.name}={AVERAGED} needs judgements: add --qrels FILE")
    shares = _world(target, membership)
    return membership.with_target(averaged_targets(membership, qrels, shares, unknown=target.unknown))


def _world(target: TargetOption, membership: Membership) -> Any:
    """The shares that the relevant documents are averaged with."""
    from evenrank.io.targets import read_target

    what = f"--target {target.name}={AVERAGED}"
    shares = target.target if target.path is None else read_target(target.path, membership.attribute)
    if isinstance(shares, Mapping) and any(not isinstance(share, (int, float)) for share in shares.values()):
        raise ParameterError(f"{what}: the world has one share for each value, not one for each query")
    if isinstance(shares, str) and shares not in ("collection", "uniform"):
        raise ParameterError(f"{what} takes collection, uniform, shares or a file behind it, not {shares!r}")
    return shares
