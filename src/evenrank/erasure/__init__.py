"""Erasing what vectors tell about groups: fit on documents, keep as a file, apply wherever vectors are.

``targets.py`` says what is erased, ``moments.py`` and ``leace.py`` find the map, ``eraser.py`` is the map,
``penalty.py`` and ``logistic.py`` are what may be subtracted from scores beside it, ``eraser_file.py`` keeps
it. ``vector_files.py`` and ``applying.py`` go through files of any size,
``model.py`` puts an eraser into a sentence-transformers model, ``held_out.py`` measures what a probe tells.
"""

from __future__ import annotations

from evenrank.erasure.applying import erase_file
from evenrank.erasure.eraser import Eraser
from evenrank.erasure.held_out import held_out_probe
from evenrank.erasure.targets import Targets

__all__ = ["Eraser", "Targets", "erase_file", "held_out_probe"]
