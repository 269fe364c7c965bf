"""``evenrank measures``: which measures there are, the page of each, and which ones answer a question."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evenrank.cli.measure_pages import (
    attention_record,
    delegated_record,
    kept_page,
    measure_record,
    page_lines,
)
from evenrank.cli.streams import put, terminal_width
from evenrank.cli.typed import Arg, command
from evenrank.text import wrapped

if TYPE_CHECKING:
    from evenrank.measures import Measure


@command(
    "evenrank measures",
    "evenrank measures nDCG",
    "evenrank measures gender",
    "evenrank measures 'share of the first page'",
    "evenrank measures --format jsonl",
)
def measures(
    words: Annotated[
        tuple[str, ...],
        Arg("a measure, such as nDCG, a position bias (rbp), or what you want to know, such as 'viewpoint'"),
    ] = (),
    *,
    format: Annotated[Literal["table", "jsonl"], Arg("how to print it")] = "table",
) -> int:
    """List all measures. With a name, print the page of that measure: what it measures in plain words, its
    formula, parameters with defaults and ranges, what it needs, its direction and range, when it is
    undefined, and its reference. With other words, find the measures that answer a question: at most five,
    each with what it needs and the command that computes it."""
    given, as_json = " ".join(words), format == "jsonl"
    if given and not as_json and (lines := kept_page(_name(given))):
        put(_page(lines))
        return 0
    from evenrank.measures import all_measures  # which a page that is kept does not need

    if not given:
        put("".join(_json(measure_record(one)) for one in all_measures().values()) if as_json else _list())
    elif (record := _record(given)) is not None:
        put(_json(record) if as_json else _page(page_lines(record)))
    else:
        found = _found(given)
        put("".join(_json(measure_record(one)) for one in found) if as_json else _answers(found))
    return 0


def _json(record: dict[str, Any]) -> str:
    from evenrank.tables import json_line

    return json_line(record)


def _list() -> str:
    from evenrank.measures import all_measures
    from evenrank.measures.delegated import delegated_names
    from evenrank.scores.names import arrow

    known = all_measures()
    width = terminal_width() or 100
    cells = [(name, m.family, arrow(m.direction.value), m.summary()) for name, m in known.items()]
    names, families = (max(len(row[column]) for row in cells) for column in (0, 1))
    indent = " " * (names + families + 7)
    lines = []
    for name, family, sign, summary in cells:
        line = f"{name:{names}}  {family:{families}}  {sign}  {summary}"
        lines.append(textwrap.fill(line, max(width, 60), subsequent_indent=indent))
    signs = dict.fromkeys(f"{arrow(m.direction.value)} {m.direction.value}" for m in known.values())
    others = ", ".join(name for name in delegated_names() if name not in known)
    after = textwrap.fill(
        f"Every other measure of ir_measures is accepted by name and computed there: {others}.",
        max(width, 60), break_on_hyphens=False,
    )  # fmt: skip
    more = [
        "The page of one: evenrank measures NAME",
        "What you want to know: evenrank measures 'first page'",
    ]
    return "\n".join([*lines, "", *signs, "", after, "", *more]) + "\n"


def _name(given: str) -> str:
    """The name in front of parameters and a cut-off."""
    return given.partition("(")[0].partition("@")[0].strip()


def _record(given: str) -> dict[str, Any] | None:
    """The declaration of what is called so; a name may come with parameters and a cut-off.

    None where the text can only be a question in words.
    """
    from evenrank.errors import UnknownNameError
    from evenrank.grammar import ALIASES, REGISTRY
    from evenrank.measures import all_measures, parse_measure
    from evenrank.measures.delegated import delegated_names

    name = _name(given)
    known = all_measures()
    ours = ALIASES["measure"].get(name, name)
    if ours in known:
        return measure_record(known[ours])
    if name in REGISTRY["attention"]:
        return attention_record(REGISTRY["attention"][name])
    if name in delegated_names():
        return delegated_record(name)
    if re.fullmatch(r"[^\W\d_][^\d_()@*+=]*", given.strip()):
        return None
    parse_measure(name or given, check=False)
    raise UnknownNameError(f"{given!r} is not the name of one measure")  # a sum of measures has no page


def _found(question: str) -> list[type[Measure]]:
    import difflib

    from evenrank.errors import UnknownNameError
    from evenrank.measures import all_measures
    from evenrank.measures.delegated import delegated_names
    from evenrank.measures.search import find_measures

    known = all_measures()
    found = find_measures(question, known.values())
    if found:
        return found
    names = {name.lower(): name for name in (*delegated_names(), *known)}
    close = [names[name] for name in difflib.get_close_matches(question.lower(), names, 3, 0.0)]
    families = ", ".join(sorted({measure.family for measure in known.values()}))
    raise UnknownNameError(
        f"no measure is called {question!r}, and none is described by such words; did you mean "
        f"{', '.join(close)}? You can also search for a family: {families}"
    )


def _answers(found: list[type[Measure]]) -> str:
    width = max(terminal_width() or 100, 60)
    lines = []
    for measure in found:
        needs, command = _asked_for(measure)
        plain = textwrap.wrap(
            measure.summary(), width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        lines += [f"{measure.name} ({measure.family}; {measure.direction.value})", *plain]
        lines += [f"  needs: {needs}", f"  {command}", ""]
    return "\n".join([*lines, "The page of one, with its formula: evenrank measures NAME"]) + "\n"


# what is needed, in words, and the option of evaluate that gives it
_OPTIONS = {
    "relevance": ("relevance judgements", "--qrels FILE"),
    "intents": ("relevance judgements by intent", "--intents FILE"),
    "words": ("counts of group words (from evenrank scan)", "--words FILE"),
    "group": ("the groups of the documents", "--groups NAME=FILE"),
    "polarity": ("scores of opinion (from evenrank polarise)", "--polarity FILE"),
    "background": ("a background", "--background FILE"),
    "against": ("a second run", "--against RUN"),
}


def _asked_for(measure: type[Measure]) -> tuple[str, str]:
    """What a measure needs, in words, and the command that computes it."""
    default = measure()
    parts = {part.partition(":")[0] for need in default.needs for part in need.split(".")}
    needed = [(words, option) for part, (words, option) in _OPTIONS.items() if part in parts]
    name = f"{measure.name}@10" if measure.takes_cutoff else measure.name
    command = " ".join(["evenrank evaluate RUN", *(option for _, option in needed), f"-m {name}"])
    return ", ".join(words for words, _ in needed) or "the run alone", command


def _page(lines: list[str]) -> str:
    width = terminal_width()
    if width is not None:
        lines = [_reflowed(line, width) if "\n" in line else wrapped(line, width) for line in lines]
    return "\n".join(lines) + "\n"


def _reflowed(text: str, width: int) -> str:
    """Paragraphs for a terminal of this width; what is laid out by hand, as lists and formulas, stays."""
    return "\n\n".join(
        part if re.search(r"^(\s|[-*|>])", part, re.MULTILINE) else wrapped(" ".join(part.split()), width)
        for part in text.split("\n\n")
    )
