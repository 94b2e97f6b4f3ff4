r"""Members of a stack in as little arithmetic as their answers need.

A member answers with a score :math:`r(x)`, the log of a density ratio, which training leaves in several steps. Here the
steps are one, with the same result up to rounding:

- a linear model of scaled columns is :math:`r(x) = a^\top x + b`;
- logistic regression on Nyström features, :math:`\beta^\top (N k(x) - \mu) + b` with the kernel
  :math:`k_i(x) = \exp(-\gamma \|x - c_i\|^2)` of *m* centres and their whitening *N* of shape (m, m), is
  :math:`r(x) = a^\top k(x) + b'` with :math:`a = N^\top \beta` and :math:`b' = b - \beta^\top \mu`: the product
  with *N*, which takes most of the time, is made once;
- trees are one table of nodes, and what a leaf adds is looked up: forests average shares of positives, boosting adds
  log-odds. Both are walked by the same compiled code, many rows in an order in which neighbours take the same ways.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.ensemble._gradient_boosting import predict_stages
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.tree._tree import NODE_DTYPE, Tree

from purely.crossfit import LARGEST_LOG_RATIO, finite_log_odds, log_ratio
from purely.typing import Floats, Indices, Matrix

#: Rows whose kernel is in memory at a time: the block stays in a processor's cache.
KERNEL_ROWS = 1024
#: Sum of the coefficients' sizes up to which single precision, about 1e-7 a term, leaves errors below a thousandth.
LARGEST_SINGLE = 5e3
#: Rows up to which one call walks all trees; it lets no other thread run, so it is not for many rows.
FEW_ROWS = 256
#: Rows from which they are sorted before they are walked, and cells that the trees they are sorted by divide them into.
SORTED_ROWS, SORTING_CELLS = 2048, 1 << 14
#: Place and column of a leaf in scikit-learn's trees.
NO_CHILD, NO_COLUMN = -1, -2


@dataclass(frozen=True)
class LinearScore:
    """A linear function of the columns.

    Attributes
    ----------
    coef : ndarray of shape (d,)
    intercept : float
    limited : bool
        Whether scores are kept within `LARGEST_LOG_RATIO`.
    """

    coef: Floats
    intercept: float
    limited: bool

    def __call__(self, X: Floats) -> Floats:
        """Scores of dense rows."""
        return _within(X @ self.coef + self.intercept, self.limited)


@dataclass(frozen=True)
class KernelScore:
    """A sum of Gaussian bumps of the scaled columns.

    Attributes
    ----------
    mean, scale : ndarray of shape (d,)
        How columns are scaled.
    centers : ndarray of shape (m, d)
        In single precision where the coefficients allow it.
    coef : ndarray of shape (m,)
    gamma, intercept : float
    limited : bool
    """

    mean: Floats
    scale: Floats
    centers: NDArray[np.floating]
    coef: NDArray[np.floating]
    gamma: float
    intercept: float
    limited: bool

    def __call__(self, X: Floats) -> Floats:
        """Scores of dense rows."""
        dtype, score = self.centers.dtype, np.empty(len(X))
        double, squares = 2.0 * self.gamma * self.centers.T, self.gamma * (self.centers**2).sum(axis=1)
        double, squares, gamma = double.astype(dtype), squares.astype(dtype), dtype.type(self.gamma)
        for start in range(0, len(X), KERNEL_ROWS):
            rows = ((X[start : start + KERNEL_ROWS] - self.mean) / self.scale).astype(dtype)
            kernel = rows @ double
            kernel -= gamma * np.einsum("ij,ij->i", rows, rows)[:, None]
            kernel -= squares
            np.exp(kernel, out=kernel)
            score[start : start + KERNEL_ROWS] = kernel @ self.coef
        return _within(score + self.intercept, self.limited)


@dataclass(frozen=True)
class TreeScore:
    """Trees whose leaves add up: to a share of positives in forests, to log-odds in boosting.

    Attributes
    ----------
    starts : ndarray of int, shape (n_trees + 1,)
        Where the nodes of each tree start, and the end.
    left, right : ndarray of int, shape (n_nodes,)
        Children, counted from the tree's start; -1 where there are none.
    feature : ndarray of int, shape (n_nodes,)
        Columns that are compared; -2 in leaves.
    threshold, value : ndarray of shape (n_nodes,)
        What they are compared with, and what a leaf adds.
    offset : ndarray of shape (d,)
        What is taken from the columns first. Rows are compared in single precision, which a column of large numbers
        that differ by little would not survive.
    shares : bool
        Whether the sum is a share of positives.
    constant : float
        What is added to the log-odds.
    """

    starts: Indices
    left: Indices
    right: Indices
    feature: Indices
    threshold: Floats
    value: Floats
    offset: Floats
    shares: bool
    constant: float

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # trees are made again

    @cached_property
    def trees(self) -> list[Tree]:
        """The trees as scikit-learn walks them."""
        nodes = np.zeros(self.left.size, NODE_DTYPE)
        nodes["left_child"], nodes["right_child"] = self.left, self.right
        nodes["feature"], nodes["threshold"] = self.feature, self.threshold
        values = self.value[:, None, None]
        trees = []
        for a, b in pairwise(self.starts.tolist()):
            trees.append(Tree(self.offset.size, np.ones(1, dtype=np.intp), 1))
            state = {"max_depth": 0, "node_count": b - a, "nodes": nodes[a:b], "values": values[a:b]}
            trees[-1].__setstate__(state)
        return trees

    @cached_property
    def stages(self) -> NDArray[np.object_]:
        """The trees as stages of scikit-learn's gradient boosting, shape (n_trees, 1)."""
        return np.array([[SimpleNamespace(tree_=tree)] for tree in self.trees], dtype=object)

    @cached_property
    def n_sorting(self) -> int:
        """How many of the trees, the first ones, divide rows into enough cells to sort them by."""
        leaves = np.add.reduceat(self.left == NO_CHILD, self.starts[:-1])
        return 1 + int(np.searchsorted(np.cumsum(np.log(leaves)), np.log(SORTING_CELLS)))

    def _sum(self, rows: NDArray[np.float32]) -> Floats:
        """What the leaves of many rows add up to.

        A processor guesses where a walk goes on, and a wrong guess costs more than the step. So rows are sorted by
        their leaves in the first trees: the next row takes much the same ways as the last, and guesses are right.
        """
        n_first = self.n_sorting if len(rows) >= SORTED_ROWS else 0
        walks = list(zip(self.trees, np.split(self.value, self.starts[1:-1]), strict=True))
        total, cell = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.intp)
        for tree, value in walks[:n_first]:
            leaf = tree.apply(rows)
            total += value.take(leaf)
            cell = cell * value.size + leaf
        order = np.argsort(cell) if n_first else slice(None)
        rows, later = rows[order], total[order]
        for tree, value in walks[n_first:]:
            later += value.take(tree.apply(rows))
        total[order] = later
        return total

    def __call__(self, X: Floats) -> Floats:
        """Scores of dense rows."""
        rows = np.ascontiguousarray(X - self.offset if self.offset.any() else X, dtype=np.float32)
        if len(rows) <= FEW_ROWS:  # a call for every tree would be slow
            total = np.zeros((len(rows), 1))
            predict_stages(self.stages, rows, 1.0, total)
            total = total[:, 0]
        else:
            total = self._sum(rows)
        return _within((finite_log_odds(total) if self.shares else total) + self.constant, limited=True)


@dataclass(frozen=True)
class ModelScore:
    """A model as it is, where nothing is known about its insides.

    Attributes
    ----------
    model : fitted estimator
    counts : tuple of int
        Numbers of positives and of unlabelled rows it was trained on.
    """

    model: Any
    counts: tuple[int, int]

    def __call__(self, X: Floats) -> Floats:
        """Scores of dense rows."""
        return log_ratio(self.model, X, *self.counts)


Score = LinearScore | KernelScore | TreeScore | ModelScore


def collapse(model: Any, counts: tuple[int, int]) -> Score:
    """The score of a fitted model of labelled (1) against unlabelled rows (0), see :func:`purely.crossfit.log_ratio`.

    Parameters
    ----------
    model : fitted estimator
    counts : tuple of int
        Numbers of positives and of unlabelled rows it was trained on.

    Returns
    -------
    LinearScore, KernelScore, TreeScore or ModelScore
    """
    if hasattr(model, "collapsed"):
        return model.collapsed() or ModelScore(model, counts)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    prevalence = float(np.log(counts[0] / counts[1]))
    shift = 0.0 if getattr(steps[-1], "class_weight", None) == "balanced" else prevalence
    found: Score | None = None
    match steps:
        case [MaxAbsScaler() as scaler, LogisticRegression(coef_=coef, intercept_=intercept)] if len(coef) == 1:
            found = LinearScore(coef[0] / scaler.scale_, float(intercept[0]) - shift, True)
        case [*kernel, LogisticRegression(coef_=coef, intercept_=intercept)] if len(coef) == 1 and kernel:
            found = kernel_score(Pipeline(model.steps[:-1]), coef[0], float(intercept[0]) - shift, limited=True)
        case [ExtraTreesClassifier() | RandomForestClassifier() as forest] if _two_classes(forest):
            found = _forest_score(forest, shift)
        # rows are dense here, so that a transformer that makes them dense changes nothing
        case [HistGradientBoostingClassifier()] | [FunctionTransformer(), HistGradientBoostingClassifier()]:
            found = _boosting_score(steps[-1], prevalence) if _two_classes(steps[-1]) else None
    return found or ModelScore(model, counts)


def collapsed_ratio(model: Any, X: Matrix, n_positive: int, n_unlabelled: int) -> Floats:
    """What :func:`purely.crossfit.log_ratio` says, in less time where rows are dense."""
    if sp.issparse(X):
        return log_ratio(model, X, n_positive, n_unlabelled)
    return collapse(model, (n_positive, n_unlabelled))(np.asarray(X))


def _two_classes(model: Any) -> bool:
    return np.array_equal(model.classes_, [0, 1]) and getattr(model, "n_outputs_", 1) == 1


def _within(score: Floats, limited: bool) -> Floats:
    return np.clip(score, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO) if limited else score


def kernel_score(kernel: Pipeline, beta: Floats, intercept: float, *, limited: bool) -> KernelScore | None:
    """The score of :func:`purely.prior.ratio.kernel_features` with coefficients; None of another pipeline."""
    match [step for _, step in kernel.steps]:
        case [StandardScaler() as scaler, Nystroem(kernel="rbf") as features, StandardScaler(with_std=False) as last]:
            pass
        case _:
            return None
    kept = features.components_
    centers = kept if isinstance(kept, np.ndarray) else kept.toarray()
    coef = features.normalization_.T @ beta
    constant = intercept - (float(last.mean_ @ beta) if last.with_mean else 0.0)
    single = np.abs(coef).sum() <= LARGEST_SINGLE
    dtype = np.float32 if single else np.float64
    width = centers.shape[1]
    mean = scaler.mean_ if scaler.with_mean else np.zeros(width)  # it notes a mean that it does not use
    scale = scaler.scale_ if scaler.with_std else np.ones(width)
    gamma = 1.0 / width if features.gamma is None else float(features.gamma)
    return KernelScore(mean, scale, centers.astype(dtype), coef.astype(dtype), gamma, float(constant), limited)


def _forest_score(forest: ExtraTreesClassifier | RandomForestClassifier, prevalence: float) -> TreeScore:
    """The score of a forest: of each leaf the share of positives, divided by the number of trees."""
    trees = [tree.tree_ for tree in forest.estimators_]
    values = [tree.value[:, 0, :] for tree in trees]
    shares = [value[:, 1] / value.sum(axis=1) / len(trees) for value in values]
    names = "children_left", "children_right", "feature", "threshold"
    left, right, feature, threshold = (np.concatenate([getattr(tree, name) for tree in trees]) for name in names)
    starts, offset = np.cumsum([0, *(tree.node_count for tree in trees)]), np.zeros(forest.n_features_in_)
    return TreeScore(starts, left, right, feature, threshold, np.concatenate(shares), offset, True, -prevalence)


def _boosting_score(boosting: HistGradientBoostingClassifier, prevalence: float) -> TreeScore | None:
    """The score of histogram boosting; None where a column is a category."""
    rounds = [trees[0].nodes for trees in boosting._predictors]
    nodes = np.concatenate(rounds)
    leaf = nodes["is_leaf"] == 1
    if nodes["is_categorical"].any():
        return None
    threshold = np.where(leaf, 0.0, nodes["num_threshold"])
    offset = np.zeros(boosting.n_features_in_)
    for column in np.unique(nodes["feature_idx"][~leaf]):
        offset[column] = np.median(threshold[~leaf & (nodes["feature_idx"] == column)])
    left, right = (np.where(leaf, NO_CHILD, nodes[side].astype(np.intp)) for side in ("left", "right"))
    feature = np.where(leaf, NO_COLUMN, nodes["feature_idx"].astype(np.intp))
    # Rounded as rows are: a row that lies on a threshold stays on its side.
    threshold = np.where(leaf, 0.0, threshold - offset[nodes["feature_idx"]]).astype(np.float32).astype(np.float64)
    starts, value = np.cumsum([0, *map(len, rounds)]), np.where(leaf, nodes["value"], 0.0)
    constant = float(boosting._baseline_prediction[0, 0]) - prevalence
    return TreeScore(starts, left, right, feature, threshold, value, offset, False, constant)
