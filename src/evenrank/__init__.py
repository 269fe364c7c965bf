"""evenrank: how even-handed is a ranked list?

Everything is loaded on first use, so that ``import evenrank`` costs next to nothing.
"""

from __future__ import annotations

from evenrank._version import __version__

TYPE_CHECKING = False  # of typing, whose import takes long enough for a Ctrl-C that nothing catches yet

_HOME = {
    "Attribute": "data.attribute",
    "DataError": "errors",
    "DiversityQrels": "data.diversity",
    "EvenrankError": "errors",
    "EvenrankWarning": "errors",
    "Inputs": "inputs",
    "Lexicon": "data.lexicon",
    "Measure": "measures",
    "Membership": "data.membership",
    "MissingEvidenceError": "errors",
    "MissingExtraError": "errors",
    "ParameterError": "errors",
    "Polarity": "data.polarity",
    "Qrels": "data.qrels",
    "Run": "data.run",
    "RunSet": "data.runset",
    "Scores": "scores",
    "WordCounts": "data.words",
    "all_measures": "measures",
    "audit": "auditing",
    "compare": "comparison",
    "counterfactual": "counterfactuals.experiment",
    "evaluate": "evaluation",
    "explain": "explanation",
    "figures": "reporting",
    "gate": "auditing",
    "origin": "comparison.origin",
    "parse_measure": "measures",
    "polarise": "evidence.polarise",
    "read_counts": "io.counts",
    "read_groups": "io.groups",
    "read_lexicon": "io.lexicons",
    "read_polarity": "io.polarity",
    "read_qrels": "io",
    "read_run": "io",
    "report": "reporting.report",
    "rerank": "rerankers",
    "scan": "evidence.scan",
    "select": "comparison.selection",
    "tradeoff": "comparison.tradeoff",
    "write_run": "io",
}
# what a lower layer calls by way of this package
_ABOVE = {"open_executor": "scale", "write_report": "reporting.page"}


__all__ = ["__version__", *sorted(_HOME)]

if TYPE_CHECKING:
    from typing import Any

    from evenrank.auditing import audit as audit
    from evenrank.auditing import gate as gate
    from evenrank.comparison import compare as compare
    from evenrank.comparison.origin import origin as origin
    from evenrank.comparison.selection import select as select
    from evenrank.comparison.tradeoff import tradeoff as tradeoff
    from evenrank.counterfactuals.experiment import counterfactual as counterfactual
    from evenrank.data.attribute import Attribute as Attribute
    from evenrank.data.diversity import DiversityQrels as DiversityQrels
    from evenrank.data.lexicon import Lexicon as Lexicon
    from evenrank.data.membership import Membership as Membership
    from evenrank.data.polarity import Polarity as Polarity
    from evenrank.data.qrels import Qrels as Qrels
    from evenrank.data.run import Run as Run
    from evenrank.data.runset import RunSet as RunSet
    from evenrank.data.words import WordCounts as WordCounts
    from evenrank.errors import DataError as DataError
    from evenrank.errors import EvenrankError as EvenrankError
    from evenrank.errors import EvenrankWarning as EvenrankWarning
    from evenrank.errors import MissingEvidenceError as MissingEvidenceError
    from evenrank.errors import MissingExtraError as MissingExtraError
    from evenrank.errors import ParameterError as ParameterError
    from evenrank.evaluation import evaluate as evaluate
    from evenrank.evidence.polarise import polarise as polarise
    from evenrank.evidence.scan import scan as scan
    from evenrank.explanation import explain as explain
    from evenrank.inputs import Inputs as Inputs
    from evenrank.io import read_qrels as read_qrels
    from evenrank.io import read_run as read_run
    from evenrank.io import write_run as write_run
    from evenrank.io.counts import read_counts as read_counts
    from evenrank.io.groups import read_groups as read_groups
    from evenrank.io.lexicons import read_lexicon as read_lexicon
    from evenrank.io.polarity import read_polarity as read_polarity
    from evenrank.measures import Measure as Measure
    from evenrank.measures import all_measures as all_measures
    from evenrank.measures import parse_measure as parse_measure
    from evenrank.reporting import figures as figures
    from evenrank.reporting.page import write_report as write_report
    from evenrank.reporting.report import report as report
    from evenrank.rerankers import rerank as rerank
    from evenrank.scale import open_executor as open_executor
    from evenrank.scores import Scores as Scores


def __getattr__(name: str) -> Any:
    """What this package has by name, on its first use; measures and re-rankers by theirs."""
    from importlib import import_module
    from importlib.util import find_spec

    if home := _HOME.get(name) or _ABOVE.get(name):
        value = globals()[name] = getattr(import_module(f"evenrank.{home}"), name)
        return value
    # neither what Python itself asks for, as __path__, nor a module that is about to be imported
    if name[:1].isalpha() and find_spec(f"evenrank.{name}") is None:
        for home, kind in (("measures", "measure"), ("rerankers", "reranker")):
            import_module(f"evenrank.{home}")
            if found := import_module("evenrank.grammar").find(name, kind):
                return found
    raise AttributeError(f"module 'evenrank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
