"""The groups of all ``--groups``, read, with the targets of ``--target``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from evenrank.data.membership import Membership
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import FileOption
from evenrank.inputs.group_options import DOCUMENTS, WORDS, TargetOption, check_groups, is_known
from evenrank.inputs.several_files import attempt


@dataclass(frozen=True)
class GroupSources:
    """What groups can be taken from besides files of their own."""

    documents: Any = None  # a file, or a table
    format: str | None = None
    columns: Mapping[str, str] | None = None
    words: Any = None  # WordCounts
    qrels: Any = None  # judgements, for targets that come from relevant documents


def memberships(
    groups: Sequence[FileOption], targets: Sequence[TargetOption], known: GroupSources
) -> list[Membership]:
    """The groups with their targets. A target for a combination, ``a*b``, adds the combination."""
    attempt(partial(check_groups, groups, targets))
    found = {str(given.name): attempt(partial(_membership, given, known)) for given in groups}
    if any(membership is None for membership in found.values()):  # reported with what is wrong elsewhere
        return []
    for target in targets:
        if target.name in found:
            found[target.name] = attempt(partial(_with_target, found[target.name], target, known.qrels))
    for target in targets:
        if target.name not in found and is_known(target.name, list(found)):
            parts = [found[part] for part in target.name.split("*")]
            combined = Membership.combined(*parts, target="uniform")
            found[target.name] = _with_target(combined, target, known.qrels)
    return list(found.values())


def _membership(given: FileOption, known: GroupSources) -> Membership:
    """The groups of one option; with error rates, what its labels probably mean."""
    options = dict(given.options)
    rates = options.pop("error", None)
    if rates is not None and options.get("votes"):
        raise ParameterError(
            f"--groups {given.name}: error= goes with one label for each document, not with votes: leave out "
            "one of the two"
        )
    found = _labelled(str(given.name), given.path, options, known)
    if rates is None:
        return found
    from evenrank.data.label_error import corrected
    from evenrank.io.label_rates import read_rates

    return corrected(found, read_rates(rates, found.attribute))


def _labelled(name: str, path: str, options: dict[str, Any], known: GroupSources) -> Membership:
    from evenrank.io.groups import read_groups

    if path == WORDS:
        if known.words is None:
            raise ParameterError(f"--groups {name}=words takes the word counts of --words: add that option")
        return Membership.from_words(known.words, name)
    kinds = [kind for kind in ("intents", "iteration") if options.pop(kind, False)]
    if kinds:
        return _judged(name, path, kinds[0], options)
    if "probabilities" in options:
        raise ParameterError(
            f"--groups {name}: probabilities goes with intents = true in the same table; for judgements by "
            "intent (--intents) it is a key of [data.intents]"
        )
    if path != DOCUMENTS:
        return read_groups(path, name, **options)
    if known.documents is None:
        own = f"COLUMN={name}" if Path(name).is_file() else f"{name}=FILE"
        raise ParameterError(
            f"groups={name!r} (--groups {name}): is this a field of the documents? Then add "
            f"documents= (--documents FILE); a file of its own is written {own}"
        )
    columns = {**(known.columns or {}), **options.pop("columns", {})} or None
    return read_groups(
        known.documents, name, **{"column": name, "format": known.format, "columns": columns, **options}
    )


def _judged(name: str, path: str, kind: str, options: Mapping[str, Any]) -> Membership:
    """Groups that judgements name in their second column: the intents of each query, or groups for all."""
    from evenrank.io.intents import read_intent_groups, read_iteration_groups

    others = sorted(set(options) - {"format", *(["probabilities"] if kind == "intents" else [])})
    if others or path in (DOCUMENTS, WORDS):
        raise ParameterError(
            f"--groups {name}: {kind} is for a file of judgements"
            + (f" and goes without {', '.join(others)}" if others else "")
        )
    return (read_intent_groups if kind == "intents" else read_iteration_groups)(path, name, **options)


def _with_target(membership: Membership, target: TargetOption, qrels: Any) -> Membership:
    from evenrank.io.targets import read_target

    path, asked = target.path, target.target
    given = asked if path is None else read_target(path, membership.attribute)
    if not target.averaged:
        return membership.with_target(given)
    from evenrank.data.averaged_target import averaged_targets

    what = f"--target {target.name}: an averaged target"
    if qrels is None:
        raise ParameterError(f"{what} needs judgements: add --qrels FILE")
    if isinstance(given, Mapping) and any(not isinstance(share, (int, float)) for share in given.values()):
        raise ParameterError(f"{what} takes one share for each value, not one for each query")
    if isinstance(given, str) and given not in ("collection", "uniform"):
        raise ParameterError(f"{what} takes collection, uniform, shares or a file, not {given!r}")
    return membership.with_target(averaged_targets(membership, qrels, given, unknown=target.unknown))
