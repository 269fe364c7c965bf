"""A map of vectors after which no linear function of them tells what was erased."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenrank._version import __version__
from evenrank.arrays import Array, Bools, Floats, lock
from evenrank.erasure.identity import EncoderIdentity, encoder_identity
from evenrank.erasure.leace import Projection, leace, still
from evenrank.erasure.leace import second_order as spread_directions
from evenrank.erasure.moments import Moments
from evenrank.erasure.penalty import LearntPenalty, check_strength
from evenrank.erasure.targets import Targets, as_targets
from evenrank.erasure.vector_files import VectorSource, vector_source
from evenrank.errors import DataError, EvenrankWarning, ParameterError, counted, few

Progress = Callable[[int, int], None]

_UNIT = 1e-3  # how far from 1 the length of a vector of length 1 may be, in half precision too


@dataclass(frozen=True, eq=False, repr=False)
class Eraser:
    """``x' = x - left right (x - mean)``, fitted by LEACE (Belrose et al. 2023).

    Over the documents that it was fitted to, x' and the targets are uncorrelated. So no linear classifier
    with a convex loss does better there than the best constant, and the score of no query, which is a linear
    function of x', goes up or down with a target. This holds for x' itself: vectors that are brought to
    length 1 again, or other documents, may still tell a little, which ``held_out_probe`` measures.

    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.7], [0.5, 0.5], [0.4, 0.4]])
    >>> eraser = Eraser.fit(vectors, ["f", "f", "m", "m", "f", "m"])
    >>> erased = eraser(vectors)
    >>> bool(np.allclose(erased[[0, 1, 4]].mean(axis=0), erased[[2, 3, 5]].mean(axis=0)))
    True
    """

    mean: Floats  # (D,)
    projection: Projection
    targets: tuple[str, ...]
    documents: int  # that it was fitted to
    labelled: int  # of them with a label
    rank: int  # directions that are taken off because of the targets; others are all but constant
    encoder: EncoderIdentity | None = None
    unit: bool = False  # whether those vectors had length 1
    version: str = __version__
    penalty: LearntPenalty | None = None

    def __post_init__(self) -> None:
        lock(self.mean, *self.projection)
        if self.penalty is not None:
            lock(self.penalty.weights)

    @classmethod
    def fit(
        cls,
        vectors: Any,
        targets: Any,
        *,
        encoder: str | os.PathLike[str] | EncoderIdentity | None = None,
        second_order: int = 0,
        penalty: float = 0.0,
        progress: Progress | None = None,
    ) -> Eraser:
        """Fit to vectors (an array, or a ``.npy`` or Parquet file of any size, in one pass) and targets
        (``Targets``, numbers, or labels, None where a document has none).

        ``encoder`` is what made the vectors: ``minilm``, or the folder of a model. Its name and a hash of
        its weights are kept, and the eraser then refuses to be used with another one. ``second_order`` takes
        off so many directions more: those in which documents with the first target spread most unlike others,
        which a probe that is not linear uses. ``penalty``, for vectors of length 1, is how much is subtracted
        from the score of a document whose vector shows the first target for sure; others lose as much less as
        ``probability`` says. Of labels and groups nobody says which one goes down, so they are refused.
        """
        made = cls.fitted(
            vectors,
            targets,
            encoder=encoder,
            second_order=second_order,
            penalty=penalty,
            progress=progress,
        )
        if made.labelled <= made.width:
            warnings.warn(
                f"{counted(made.labelled, 'labelled document', 'labelled documents')} for vectors of "
                f"{made.width} dimensions: on other documents less is erased than on these",
                EvenrankWarning,
                stacklevel=2,
            )
        return made

    @classmethod
    def fitted(
        cls,
        vectors: Any,
        targets: Any,
        *,
        encoder: str | os.PathLike[str] | EncoderIdentity | None = None,
        second_order: int = 0,
        penalty: float = 0.0,
        progress: Progress | None = None,
    ) -> Eraser:
        """The same as ``fit``, without a warning where the documents are few."""
        source, wanted, strength = vector_source(vectors), as_targets(targets), check_strength(penalty)
        if source.count != len(wanted):
            raise DataError(
                f"{source.name}: {source.count:,} vectors, but targets of {len(wanted):,} documents"
            )
        if strength and wanted.groups:
            raise ParameterError(
                f"penalty: of {few(wanted.names)} nobody says which one goes down: pass a numpy array "
                "that is True for documents that do (where some have no label: Targets(names, table, known) "
                "with that column first), or leave penalty out"
            )
        found = None
        if encoder is not None:
            found = encoder if isinstance(encoder, EncoderIdentity) else encoder_identity(encoder)
        if not 0 <= second_order < source.width:
            raise ParameterError(
                f"second_order must be below the {source.width} dimensions and at least 0, got {second_order}"
            )
        marked = wanted.marked if second_order else None
        moments, unit = _moments(source, wanted, marked, progress)
        if moments.all_equal:
            alike = "equal" if moments.mean.any() else "0"
            raise DataError(
                f"{source.name}: all {moments.documents:,} vectors are {alike}, so that they tell nothing "
                "and there is nothing to erase: check how they were made"
            )
        projection = leace(moments.covariance, moments.cross_covariance)
        if moments.marked is not None:
            both = moments.covariance, moments.marked.covariance()
            overall, own = (projection.applied(spread) for spread in both)
            projection = projection.then(spread_directions(overall, own, second_order))
        rank = projection.left.shape[1]
        if moments.documents > source.width:  # of fewer documents, others vary where these do not
            projection = projection.then(still(moments.covariance))
        learnt = None
        if strength:
            if not unit:
                raise ParameterError(
                    "penalty is subtracted from cosines, but the vectors are not of length 1: bring them to "
                    "length 1 first"
                )
            learnt = LearntPenalty.fit(strength, source, wanted.marked, wanted.known)
        return cls(
            moments.mean, projection, wanted.names, moments.documents, moments.labelled, rank, found, unit,
            penalty=learnt,
        )  # fmt: skip

    @property
    def width(self) -> int:
        return len(self.mean)

    def __call__(self, vectors: Any) -> Array:
        """The vectors (N, D), or one vector (D,), without what was erased; of the type that they had.

        This is the map and nothing else: it moves a vector of zeros too, which ``for_index`` does not.
        """
        return self.erased(self._sound(vectors))

    def probability(self, vectors: Any) -> Floats:
        """(N,), or a number for one vector: how likely the first target is, by the vector before erasure.

        An eraser with a penalty knows it. The score of a document is then the product of the query and
        ``for_index(vectors)``, less ``penalty.strength`` times this. A vector of zeros is that of a document
        without a text, which shows nothing: its probability is 0.
        """
        x = self._sound(vectors)
        if self.penalty is None:
            raise ParameterError("the eraser has no penalty: fit it with penalty=0.05 or so")
        return self.penalty.probability(x) * x.any(axis=-1)

    def for_index(self, vectors: Any) -> Array:
        """The erased vectors as a search has them: with a penalty of length 1 again, which keeps relevance
        and brings back a little that the penalty then covers; without one as ``__call__`` leaves them.

        A vector of zeros stays one, since a document without a text is like no query."""
        found = self.erased_texts(self._sound(vectors))
        if self.penalty is None:
            return found
        lengths = np.linalg.norm(found, axis=-1, keepdims=True)
        return np.asarray(found / np.where(lengths > 0, lengths, 1), dtype=found.dtype)

    def _sound(self, vectors: Any) -> Array:
        x = np.asarray(vectors)
        if x.dtype.kind != "f":
            x = x.astype(np.float64)
        if x.ndim not in (1, 2):
            raise DataError(f"vectors are an array (documents, dimensions), got {x.shape}")
        self.check_width(x.shape[-1])
        flawed = np.flatnonzero(~np.isfinite(np.atleast_2d(x)).all(axis=1))
        if len(flawed):
            raise DataError(f"vectors: row {int(flawed[0]) + 1} holds NaN or infinity")
        return x

    def erased(self, x: Array) -> Array:
        """The same for vectors that are known to be sound; half precision is computed in float32."""
        kind = np.promote_types(x.dtype, np.float32)
        left, right = (part.astype(kind, copy=False) for part in self.projection)
        told = x @ right.T - (right @ self.mean.astype(kind))  # (N, R)
        found: Array = (x - told @ left.T).astype(x.dtype, copy=False)
        return found

    def erased_texts(self, x: Array) -> Array:
        """The same for a search, where a vector of zeros is a text without a word and stays as it is.

        The map itself has to move zeros as all other vectors, since they were counted when it was fitted.
        """
        found = self.erased(x)
        found[~x.any(axis=-1)] = 0
        return found

    def check_width(self, width: int, source: str = "the vectors") -> None:
        if width != self.width:
            raise DataError(
                f"{source}: {width} dimensions, but the eraser was fitted to vectors of {self.width}: use "
                "vectors of the same encoder, or fit another eraser"
            )

    def check_encoder(self, encoder: EncoderIdentity, source: str = "the eraser") -> None:
        """Raise unless it may belong to this encoder."""
        if self.encoder is not None and self.encoder.is_other_than(encoder):
            raise ParameterError(
                f"{source}: was fitted to vectors of {self.encoder}, not of {encoder}: fit an eraser for "
                "this encoder"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as safetensors, all or nothing."""
        from evenrank.erasure.eraser_file import write_eraser

        write_eraser(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Eraser:
        """Read what ``save`` wrote."""
        from evenrank.erasure.eraser_file import read_eraser

        return read_eraser(path)

    def __repr__(self) -> str:
        of = "" if self.encoder is None else f" of {self.encoder.name}"
        less = "" if self.penalty is None else f", penalty {self.penalty.strength:g}"
        return (
            f"<Eraser: {', '.join(self.targets)} from vectors{of} of {self.width} dimensions, "
            f"rank {self.rank}, fitted to {counted(self.documents, 'document', 'documents')}{less}>"
        )


def _moments(
    source: VectorSource, targets: Targets, marked: Bools | None, progress: Progress | None
) -> tuple[Moments, bool]:
    found = Moments(source.width, len(targets.names))
    unit, any_length, row = True, False, 0
    for block in source.blocks():
        rows = slice(row, row + len(block.vectors))
        found.add(
            block.vectors, targets.table[rows], targets.known[rows], None if marked is None else marked[rows]
        )
        if unit:
            lengths = np.linalg.norm(block.vectors, axis=1)
            lengths = lengths[lengths > 0]  # a document without a text has a vector of zeros
            unit = bool((np.abs(lengths - 1) < _UNIT).all())
            any_length |= len(lengths) > 0
        row = rows.stop
        if progress is not None:
            progress(row, source.count)
    return found, unit and any_length
