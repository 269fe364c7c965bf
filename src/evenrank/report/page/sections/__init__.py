"""The sections of the report in their order: one module each, a function from material to section.

A section that has nothing to say gives None. To add one, write its module and name it here.
"""

from __future__ import annotations

from collections.abc import Callable

from evenrank.report.page.material import Material
from evenrank.report.page.rendering import Section
from evenrank.report.page.sections.cutoffs import cutoffs_section
from evenrank.report.page.sections.provenance import provenance_section
from evenrank.report.page.sections.queries import queries_section
from evenrank.report.page.sections.summary import summary_section
from evenrank.report.page.sections.systems import systems_section
from evenrank.report.page.sections.tradeoff import tradeoff_section

MakeSection = Callable[[Material], Section | None]

SECTIONS: tuple[MakeSection, ...] = (
    summary_section,
    systems_section,
    tradeoff_section,
    cutoffs_section,
    queries_section,
    provenance_section,
)
