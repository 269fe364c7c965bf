"""What ``groups=`` and ``target=`` take: files, tables, dictionaries, and what the command line takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from evenrank.data.membership import Membership
from evenrank.errors import InputTypeError, ParameterError, nearest_hint
from evenrank.inputs.group_options import DOCUMENTS, groups_of, target_of
from evenrank.inputs.memberships import GroupSources, memberships

OF_A_ROW = ("document", "query", "text", "title", "weight")  # roles of columns that are no attribute
OF_A_VALUE = ("value", "share", "rater")  # a table that has one of these has a row for each value
ATTRIBUTE = "group"  # what an attribute is called that nobody named
TARGETS = ("catalogue", "candidates", "equal", "present", "relevance")
LOOKED_AT = 1000  # rows in which columns with few values are looked for
TAKEN = "a path, a table, fields of documents=, {attribute: source}, what read_groups gives, or a list"


def as_groups(given: Any, documents: Any = None) -> tuple[Membership, ...]:
    """The groups in a source, or in several."""
    from evenrank.io.tables import as_table

    if given is None:
        return ()
    if isinstance(given, Membership):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(_named(str(name), source) for name, source in given.items())
    if isinstance(given, (str, PathLike)):
        return _written(fspath(given), documents)
    table = as_table(given, "groups")
    if table is not None:
        return _of_columns(given, table, ATTRIBUTE)
    if isinstance(given, Iterable):
        return tuple(found for one in given for found in as_groups(one, documents))
    raise InputTypeError(f"groups= takes {TAKEN}; got {type(given).__name__}")


def _named(name: str, source: Any) -> Membership:
    from evenrank.io.groups import read_groups

    if isinstance(source, Membership):
        return replace(source, attribute=replace(source.attribute, name=name))
    if source is None or (isinstance(source, str) and not Path(source).exists()):
        raise InputTypeError(
            f"groups= is a dict of attributes, as {{'gender': {{document: value}}}} or {{'gender': "
            f"'groups.csv'}}; under {name!r} there is {source!r}, and no file of that name"
        )
    return read_groups(source, name)


def _written(text: str, documents: Any) -> tuple[Membership, ...]:
    """A file of groups, or what ``--groups`` takes: ``NAME=FILE`` and names of fields of the documents."""
    from evenrank.io.documents import DocumentsFile
    from evenrank.io.tables import the_table

    if Path(text).exists():
        return _of_columns(text, the_table(text, "groups"), Path(text).name.partition(".")[0])
    options = groups_of(text)
    if documents is None and any(option.path == DOCUMENTS for option in options):
        raise ParameterError(
            f"groups={text!r}: there is no file of that name; a field of the documents needs documents="
        )
    if isinstance(documents, DocumentsFile):
        sources = GroupSources(documents.path, documents.format, documents.columns)
    else:
        sources = GroupSources(documents)
    return tuple(memberships(options, (), sources))


def _of_columns(source: Any, table: Any, name: str) -> tuple[Membership, ...]:
    """An attribute for each column of labels; of a table of values and shares one, called ``name``."""
    from evenrank.inputs.found_files import fields_of
    from evenrank.io.column_names import candidates
    from evenrank.io.groups import read_groups

    if any(candidates(table.names, role) for role in OF_A_VALUE):
        return (read_groups(source, name),)
    taken = {column for role in OF_A_ROW for column in candidates(table.names, role)}
    left = [column for column in table.names if column not in taken and column != "id"]
    if len(left) == 1:
        return (read_groups(source, left[0]),)
    cells = {column: _first(table.column(column)) for column in left}
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    options = [option for column, how in fields_of(rows, left).items() for option in groups_of(column + how)]
    if not options:
        raise ParameterError(
            f"groups=: which of the columns {', '.join(left) or '(none)'} is an attribute? Name it, as "
            f"groups={{{(left or ['gender'])[0]!r}: table}}"
        )
    return tuple(memberships(options, (), GroupSources(source)))


def _first(cells: Any) -> list[Any]:
    some = cells[:LOOKED_AT]
    return some.to_pylist() if hasattr(some, "to_pylist") else list(some)


def with_target(groups: Sequence[Membership], target: Any) -> tuple[Membership, ...]:
    """The groups with a target: one for all of them, or a dict with one for each attribute."""
    from evenrank.io.targets import read_target

    names = [membership.attribute.name for membership in groups]
    if isinstance(target, Mapping) and target and all(str(name) in names for name in target):
        return tuple(
            with_target([one], target[name])[0] if (name := one.attribute.name) in target else one
            for one in groups
        )
    if not groups:
        raise ParameterError("target= is the share that each group should get: pass groups= too")
    if isinstance(target, Mapping) and any(isinstance(one, str) for one in target.values()):
        strange = next(str(name) for name in target if str(name) not in names)
        there = nearest_hint(strange, names)
        raise ParameterError(f"target= of {strange!r}: there are groups of {', '.join(names)}{there}")
    if isinstance(target, str) and "=" in target:
        option = target_of(target)
        if option.name not in names:
            raise ParameterError(f"target={target!r}: there are groups of {', '.join(names)}")
        return with_target(groups, {option.name: option.path or option.target})
    if isinstance(target, PathLike) or (isinstance(target, str) and Path(target).is_file()):
        return tuple(one.with_target(read_target(target, one.attribute)) for one in groups)
    if isinstance(target, str):
        option = target_of(f"{names[0]}={target}")
        if option.path is not None:
            raise ParameterError(
                f"target={target!r}: must be {', '.join(TARGETS)}, shares by value or a file"
                f"{nearest_hint(target, TARGETS)}"
            )
        target = option.target
    return tuple(one.with_target(target) for one in groups)
