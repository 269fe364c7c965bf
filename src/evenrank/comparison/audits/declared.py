"""How a view of an audit declares itself: its name, what may stand behind it, and how its tables are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from evenrank.errors import UnknownNameError, nearest_hint

if TYPE_CHECKING:
    from evenrank.comparison.audits.audited import Audited
    from evenrank.tables import Table

Settings = Mapping[str, str]
MakeTables = Callable[["Audited", Settings], tuple["Table", ...]]
SYSTEMS = "systems"  # of every view: a file that says which run is which system, of which class


class AuditView(NamedTuple):
    """``keys`` may stand behind the name as key=value, and "" stands for a plain value."""

    name: str
    summary: str
    keys: tuple[str, ...]
    make: MakeTables
    test: str = "t,holm,0.05"  # unless --test says otherwise


AUDIT_VIEWS: dict[str, AuditView] = {}


def declare_view(
    name: str, summary: str, *keys: str, test: str = "t,holm,0.05"
) -> Callable[[MakeTables], MakeTables]:
    """Enter a function from an audit to tables under the name that ``compare --view`` takes."""

    def declare(make: MakeTables) -> MakeTables:
        AUDIT_VIEWS[name] = AuditView(name, summary, (*keys, SYSTEMS), make, test)
        return make

    return declare


def audit_tables(audited: Audited, view: str, settings: Settings | None = None) -> tuple[Table, ...]:
    """The tables of a view; ``settings`` has a plain value under ""."""
    if view not in AUDIT_VIEWS:
        raise UnknownNameError(f"no view is called {view!r}{nearest_hint(view, AUDIT_VIEWS)}")
    return AUDIT_VIEWS[view].make(audited, settings or {})
