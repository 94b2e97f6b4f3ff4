r"""Which rows of a pool to label: drawn with known probabilities that favour doubtful and high-scoring rows.

With :math:`q_i` the model's probability of row :math:`i`, the row's size is

.. math:: s_i = (1 - u) \frac{a_i}{\bar a} + u, \qquad a_i = \sqrt{q_i (1 - q_i) + \epsilon},

in proportion to the spread of a label where the model is right, with a floor :math:`\epsilon` and a uniform part
:math:`u` for where it is not. The row is drawn with probability :math:`\pi_i = \min(1, t s_i)`, :math:`\sum \pi_i = n`.
Rows are laid end to end in the order of their scores, each as long as its probability; every whole step from a random
start hits one (systematic sampling), so that no region of the score is left out.
The labels that somebody gives them are read by :func:`read_audit_labels`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from purely.checks import RandomState, check_number, draw_seed
from purely.files import shown
from purely.label_words import find_meaning, says
from purely.typing import Floats, Indices

#: Spread that every label is believed to have, whatever the model says; and share of the draw that is uniform.
FLOOR, UNIFORM = 0.002, 0.1
Objects: TypeAlias = NDArray[np.object_]
_HOW_TO_LABEL = "Write 1 or yes, 0 or no, and leave out what you could not tell."


@dataclass(frozen=True)
class AuditSample:
    """Rows of a pool that are to be labelled, and how they were drawn.

    Attributes
    ----------
    index : ndarray of shape (n,)
        Places of the rows in the pool, in random order; those of an earlier round come first.
    inclusion : ndarray of shape (n,)
        Probability with which each row was to be drawn, in any of the rounds.
    round : ndarray of shape (n,)
        The round that drew each row, from 1.
    n_pool : int
        Rows of the pool.
    key : int
        Checksum of the pool's probabilities: an audit is read with the probabilities that it was drawn with.
    ids : tuple, optional
        Names of the rows, where the pool has some.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit
    >>> sample = draw_audit(np.linspace(0.01, 0.6, 1000), 50, random_state=0)
    >>> print(sample)
    50 of 1000 rows drawn, with probabilities from 0.023 to 0.059
    >>> bool(np.unique(sample.index).size == len(sample))
    True
    """

    index: Indices
    inclusion: Floats
    round: Indices
    n_pool: int
    key: int
    ids: tuple[object, ...] | None = None

    def __len__(self) -> int:
        return int(self.index.size)

    def __str__(self) -> str:
        rounds = f" in {self.round.max()} rounds" if len(self) and self.round.max() > 1 else ""
        return (
            f"{len(self)} of {self.n_pool} rows drawn{rounds}, with probabilities from {self.inclusion.min():.2g} to "
            f"{self.inclusion.max():.2g}"
        )


def draw_audit(
    probability: ArrayLike,
    n: int,
    *,
    random_state: RandomState = None,
    id: Sequence[object] | None = None,
    after: AuditSample | None = None,
) -> AuditSample:
    """Draw rows of a pool for labelling, with known probabilities, see :mod:`purely.audit`.

    Parameters
    ----------
    probability : array-like of shape (n_pool,)
        What a model says of the pool: the probability of the positive class of each row. A model that is wrong makes
        the audit less precise, never invalid.
    n : int
        Rows to draw.
    random_state : int, RandomState or None, default=None
    id : sequence of length n_pool, optional
        Names of the rows; the sample keeps those of its rows.
    after : AuditSample, optional
        An earlier round on the same pool: `n` more rows are drawn, and the sample holds the rows of both rounds.

    Returns
    -------
    AuditSample

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit
    >>> probability = np.linspace(0.01, 0.6, 1000)
    >>> sample = draw_audit(probability, 50, random_state=0)
    >>> len(sample), bool(sample.inclusion.min() > 0)
    (50, True)
    >>> len(draw_audit(probability, 30, random_state=1, after=sample))
    80
    """
    q = read_probability(probability)
    n = check_number("n", n, 1, integer=True)
    if id is not None and len(id) != q.size:
        raise ValueError(f"id and probability must have the same length; they have {len(id)} and {q.size} rows.")
    left = np.ones(q.size, dtype=bool)
    if after is not None:
        check_key(after, q)
        left[after.index] = False
    if n > left.sum():
        what = "the pool has" if after is None else "the first rounds have left"
        raise ValueError(f"n must be at most the {int(left.sum())} rows that {what}; {n} was given.")
    rng = np.random.default_rng(draw_seed(random_state))
    sizes, rows = row_sizes(q), np.flatnonzero(left)
    chances = np.zeros(q.size)
    chances[rows] = inclusion_probabilities(sizes[rows], n)
    drawn = rng.permutation(rows[every_step(q[rows], chances[rows], rng)])
    index, inclusion, number = drawn, chances[drawn], np.ones(n, dtype=np.intp)
    if after is not None:
        earlier = inclusion_probabilities(sizes, len(after))  # of all rows, as far as their sizes tell
        index = np.concatenate([after.index, drawn])
        again = inclusion_probabilities(sizes, n)  # what a row of the first round would have had in this one
        inclusion = 1.0 - (1.0 - earlier[index]) * (1.0 - np.where(chances > 0.0, chances, again)[index])
        number = np.concatenate([after.round, np.full(n, after.round.max() + 1)])
    ids = None if id is None else tuple(id[int(i)] for i in index)
    return AuditSample(index, inclusion, number, q.size, pool_key(q), ids)


def row_sizes(probability: Floats) -> Floats:
    """Sizes of rows, to which their probabilities of being drawn are in proportion; the mean is 1."""
    spread = np.sqrt(probability * (1.0 - probability) + FLOOR)
    return (1.0 - UNIFORM) * spread / spread.mean() + UNIFORM


def inclusion_probabilities(sizes: Floats, n: int) -> Floats:
    """Probabilities in proportion to sizes, none above 1, that sum to `n`."""
    certain = np.zeros(sizes.size, dtype=bool)
    while True:
        room = n - int(certain.sum())
        if room <= 0 or certain.all():
            return certain.astype(np.float64)
        chances = np.where(certain, 1.0, room * sizes / sizes[~certain].sum())
        if (chances <= 1.0 + 1e-12).all():
            return np.minimum(chances, 1.0)
        certain = chances >= 1.0


def every_step(score: Floats, chances: Floats, rng: np.random.Generator) -> Indices:
    """Places that whole steps from a random start hit, the rows lying end to end by score, equal ones at random."""
    order = np.lexsort((rng.random(score.size), score))
    ends = np.cumsum(chances[order])
    ends[-1] = round(ends[-1])  # rounding must not lose the last step
    return order[np.diff(np.floor(ends + rng.random()), prepend=0.0) > 0.0]


def read_probability(probability: ArrayLike) -> Floats:
    """Probabilities of a pool, checked."""
    q = np.asarray(probability, dtype=np.float64)
    if q.ndim == 2 and q.shape[1] == 2:
        raise ValueError("probability must hold one number a row; of predict_proba take the second column, [:, 1].")
    q = q.ravel()
    if q.size == 0:
        raise ValueError("probability is empty: there is no row to draw from.")
    if not np.isfinite(q).all() or q.min() < 0.0 or q.max() > 1.0:
        raise ValueError("probability must hold numbers from 0 to 1; scores of other kinds are not probabilities.")
    return q


def pool_key(probability: Floats) -> int:
    """Checksum of a pool's probabilities, to six digits: another machine may round the last ones otherwise."""
    return zlib.crc32(np.round(probability, 6).tobytes())


def check_key(sample: AuditSample, probability: Floats) -> None:
    """Refuse probabilities that a sample was not drawn by."""
    if sample.n_pool != probability.size:
        raise ValueError(
            f"the audit was drawn from {sample.n_pool} rows and probability has {probability.size}; give the "
            "probabilities of the whole pool that it was drawn with."
        )
    if sample.key != pool_key(probability):
        raise ValueError(
            "probability is not what the audit was drawn by: another model, or the rows in another order. Read it with "
            "the probabilities that draw_audit was given."
        )


def read_audit_labels(labels: ArrayLike) -> Floats:
    """Labels as 1 for positive, 0 for negative and NaN where the label is missing.

    Words mean what they mean everywhere (:mod:`purely.labels`), but here "no" is a negative, and an empty text, "?" or
    "unknown" stands for a row that could not be told. All labels may be the same.

    Examples
    --------
    >>> from purely.audit import read_audit_labels
    >>> read_audit_labels(["yes", "no", "?", ""])
    array([ 1.,  0., nan, nan])
    """
    values = np.asarray(labels, dtype=object).ravel()
    kinds = np.array([_kind(value) for value in values], dtype=object)
    if "other" in kinds:
        kinds = _named_classes(values, kinds)
    return np.select([kinds == "positive", kinds == "unlabelled"], [1.0, np.nan], 0.0).astype(np.float64)


def _kind(value: object) -> str:
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return "unlabelled"
    return says(value)


def _named_classes(values: Objects, kinds: Objects) -> Objects:
    """Kinds where a class has a name of its own, as in "fraud" and "no"."""
    told = kinds != "unlabelled"
    present = list(dict.fromkeys(str(v) for v in values[told]))
    listed = ", ".join(repr(shown(v)) for v in present[:5])
    if len(present) != 2:
        raise ValueError(f"labels must have two values; found {len(present)}: {listed}. {_HOW_TO_LABEL}")
    meaning = find_meaning(present)
    if meaning.guessed:
        raise ValueError(f"which of the labels {listed} marks a positive cannot be told. {_HOW_TO_LABEL}")
    named = np.where([str(v) == meaning.positive for v in values], "positive", "negative").astype(object)
    return np.where(told, named, "unlabelled")
