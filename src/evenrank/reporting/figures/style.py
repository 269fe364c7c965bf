"""What all figures share: altair where it is installed, colours, fonts, how names and titles are written."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from evenrank.errors import MissingExtraError
from evenrank.text import printable

# Okabe and Ito's colours, told apart by readers of any colour vision, without the yellow, which is too
# light for a line; shapes differ as well, for print without colour
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# of groups: the same hues, dark enough to hold white letters; what stands for no group is grey
GROUP_COLOURS = ("#b34700", "#005a8f", "#00684c", "#95406f", "#1f6f9c", "#8a5d00")
NO_GROUP, NO_GROUP_COLOUR = frozenset(("neutral", "no group", "unknown", "none", "other")), "#66717c"
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
GREY = "#888888"
OTHERS = "#a9b1b8"  # runs beyond those that have a colour
NO_NAME = "(no name)"
EVEN = {"color": GREY, "strokeDash": [4, 3]}  # the line where a signed measure is even


def series_colours(count: int) -> list[str]:
    """A colour for each of so many runs or measures: those beyond the last colour are grey, since a colour
    that came again would be taken for another one.

    >>> series_colours(9)[6:]
    ['#000000', '#a9b1b8', '#a9b1b8']
    """
    return [*COLOURS[:count], *[OTHERS] * (count - len(COLOURS))]


def value_tips(alt: Any, **fields: str) -> list[Any]:
    """What is shown when a pointer rests on a mark: fields under their titles, numbers with four decimals."""
    return [
        alt.Tooltip(
            field,
            title=title.strip("_").replace("_", " "),
            **({"format": ".4f"} if field.endswith(":Q") else {}),
        )
        for title, field in fields.items()
    ]


def query_names(queries: Iterable[str], texts: Mapping[str, str] | None) -> dict[str, str]:
    """What is drawn for each query: its text where it is known, else its id.

    >>> query_names(["q1", "q2"], {"q1": "who  is she?"})
    {'q1': 'who is she?', 'q2': 'q2'}
    """
    known = texts or {}
    return _distinct({query: " ".join(known.get(query, "").split()) or query for query in queries})


def group_places(values: Sequence[str]) -> list[int | None]:
    """The place of each group among those that have a colour; None for what stands for no group.

    >>> group_places(["female", "neutral", "male"])
    [0, None, 1]
    """
    found: list[int | None] = []
    for value in values:
        found.append(None if value.lower() in NO_GROUP else sum(place is not None for place in found))
    return found


def group_colours(values: Sequence[str]) -> list[str]:
    """The colour of each group, wherever it is drawn.

    >>> group_colours(["female", "neutral", "male"])
    ['#b34700', '#66717c', '#005a8f']
    """
    return [
        NO_GROUP_COLOUR if place is None else GROUP_COLOURS[place % len(GROUP_COLOURS)]
        for place in group_places(values)
    ]


def load_altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401  draws what altair describes
    except ImportError:
        raise MissingExtraError.for_job("figures", "altair and vl-convert-python", "report") from None
    return altair


def unchecked() -> AbstractContextManager[None]:
    """Inside, charts are not checked against the schema of Vega-Lite at every step, which takes as long as
    building them. Tests check ours; a chart that is wrong is refused by what draws it."""
    load_altair()
    from altair.utils.schemapi import debug_mode

    return debug_mode(False)


def rows_of(alt: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows that a chart is drawn from. Altair copies a chart at every step; copies share the rows."""
    return _rows_class(alt)(values=list(rows))


@cache
def _rows_class(alt: Any) -> Any:
    def itself(data: Any, _: Any) -> Any:
        return data

    return type("Rows", (alt.Data,), {"__deepcopy__": itself})


def styled(chart: Any) -> Any:
    kind: Any = type(chart)
    object.__setattr__(chart, "__class__", _without_network(kind))  # its own would set a property
    return (
        chart.configure(font="Helvetica, Arial, sans-serif", background="white")
        .configure_view(stroke="#dddddd")
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#eeeeee", titleFontWeight="normal")
        .configure_title(fontSize=13, subtitleFontSize=11, subtitleColor="#666666", anchor="start", offset=8)
    )


@cache
def _without_network(kind: Any) -> Any:
    """Charts that notebooks show without a script from elsewhere: as Vega-Lite where they draw that
    themselves, else as SVG."""

    def bundle(self: Any, *_: Any, **__: Any) -> dict[str, Any]:
        import altair
        import vl_convert

        major = altair.SCHEMA_VERSION.lstrip("v").partition(".")[0]
        return {
            f"application/vnd.vegalite.v{major}+json": self.to_dict(),
            "image/svg+xml": vl_convert.vegalite_to_svg(self.to_dict()),
        }

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": bundle, "__module__": kind.__module__})


def wrapped(text: str, width: int) -> list[str]:
    """In as many lines as are needed; parameters have no blanks, so the lines break after commas.

    >>> wrapped("GF(attr='stance',div='JSD')@10 and iRBU@10", 24)
    ["GF(attr='stance',", "div='JSD')@10 and", 'iRBU@10']
    """
    lines = textwrap.wrap(text.replace(",", ", "), width, break_on_hyphens=False)
    return [line.replace(", ", ",") for line in lines]


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """What is drawn for each name. Two that would look the same are told apart: they are not one bar.

    >>> list(shown_names(["a\\n", "a\\\\n"]).values())
    ['a\\\\n', 'a\\\\n (2)']
    """
    return _distinct({name: name for name in names})


def _distinct(names: Mapping[str, str]) -> dict[str, str]:
    seen: Counter[str] = Counter()
    shown = {}
    for key, name in names.items():
        text = printable(name) or NO_NAME
        seen[text] += 1
        shown[key] = text if seen[text] == 1 else f"{text} ({seen[text]})"
    return shown


def counted(count: int, what: str) -> str:
    """
    >>> counted(1, "run"), counted(2, "query")
    ('1 run', '2 queries')
    """
    return f"{count} {what if count == 1 else {'run': 'runs', 'query': 'queries'}[what]}"
