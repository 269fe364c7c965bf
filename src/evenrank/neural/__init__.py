"""Neural rankers that learn not to tell groups apart: adversarial training, its probe, and re-ranking.

``ranker.py`` with ``model.py`` (cross-encoder) and ``bi_encoder.py`` are the rankers, ``reversal.py``,
``losses.py`` and ``objectives.py`` what they learn; ``examples.py``, ``labels.py``, ``sampling.py``
and ``splits.py`` the data; ``stage.py`` says what a stage trains, ``trainer.py`` does it, and ``training.py``
puts the three stages together; ``probe.py`` attacks, ``reranker.py`` re-ranks. Reference:
nfairc-advbert-2021, Sections 5 to 7.

Everything is loaded on first use: without the extra ``[train]`` only the names are there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenrank.neural.extra import require

_HOME = {
    "BiEncoderRanker": "bi_encoder",
    "Config": "config",
    "CrossEncoderRanker": "model",
    "Examples": "examples",
    "NeuralReranker": "reranker",
    "PairLabels": "labels",
    "PairTokens": "tokens",
    "Probe": "probe",
    "Stage": "stage",
    "Trainer": "trainer",
    "balanced": "sampling",
    "build_examples": "examples",
    "label_pairs": "labels",
    "load_ranker": "load",
    "make_config": "config",
    "probe_ranker": "probe",
    "query_folds": "splits",
    "read_config": "config",
    "read_triples": "triples_file",
    "reverse": "reversal",
    "scrub_examples": "scrub",
    "train": "training",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from evenrank.neural.bi_encoder import BiEncoderRanker as BiEncoderRanker
    from evenrank.neural.config import Config as Config
    from evenrank.neural.config import make_config as make_config
    from evenrank.neural.config import read_config as read_config
    from evenrank.neural.examples import Examples as Examples
    from evenrank.neural.examples import build_examples as build_examples
    from evenrank.neural.labels import PairLabels as PairLabels
    from evenrank.neural.labels import label_pairs as label_pairs
    from evenrank.neural.load import load_ranker as load_ranker
    from evenrank.neural.model import CrossEncoderRanker as CrossEncoderRanker
    from evenrank.neural.probe import Probe as Probe
    from evenrank.neural.probe import probe_ranker as probe_ranker
    from evenrank.neural.reranker import NeuralReranker as NeuralReranker
    from evenrank.neural.reversal import reverse as reverse
    from evenrank.neural.sampling import balanced as balanced
    from evenrank.neural.scrub import scrub_examples as scrub_examples
    from evenrank.neural.splits import query_folds as query_folds
    from evenrank.neural.stage import Stage as Stage
    from evenrank.neural.tokens import PairTokens as PairTokens
    from evenrank.neural.trainer import Trainer as Trainer
    from evenrank.neural.training import train as train
    from evenrank.neural.triples_file import read_triples as read_triples

_PLAIN = {"Config", "make_config", "read_config"}  # which need no extra


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'evenrank.neural' has no attribute {name!r}")
    if name not in _PLAIN:
        require(f"evenrank.neural.{name}")
    return getattr(import_module(f"evenrank.neural.{home}"), name)
