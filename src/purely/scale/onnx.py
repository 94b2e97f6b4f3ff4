r"""A classifier as an ONNX graph: the same arithmetic, for engines that know nothing of Python.

The graph takes a matrix of double precision, one column for each column that the model was trained on, and gives the
log-odds ("score") and their logistic function ("probability") of every row. What comes before the classifier is part of
it: missing values (NaN) are filled, columns are centred and scaled. Trees become ``TreeEnsembleRegressor``, kernels and
networks matrix products. The calibration of a score *s* between knots :math:`k_i` is

.. math:: z_i + m_i (s - k_i), \qquad i = \#\{j \ge 1 : k_j \le s\} ,

with slopes :math:`m_i`, and linear beyond the first and the last knot.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

from purely.calibration import ScoreCalibration
from purely.classifiers import DistilledPUClassifier, PUClassifier
from purely.classifiers.distilled import NetworkScore
from purely.collapsed import KernelScore, LinearScore, TreeScore
from purely.crossfit import LARGEST_LOG_ODDS, LARGEST_LOG_RATIO
from purely.nn.fitted import NetworkArrays
from purely.tables import TableEncoder
from purely.tables.cells import LARGEST
from purely.typing import Floats

#: Versions of the operators; the first that have what is used here, so that older engines read it.
OPSET, TREE_OPSET, IR_VERSION = 17, 3, 8


def to_onnx(model: Any, *, exact: bool = False) -> onnx.ModelProto:
    """The graph of a classifier, which ``onnx.save`` writes.

    Parameters
    ----------
    model : PUClassifier, DistilledPUClassifier or Pipeline of a TableEncoder and one of these
        Fitted; what ``purely fit`` writes is the latter. A :class:`purely.PUClassifier` is distilled.
    exact : bool, default=False
        Multiply the stack out, where the distilled classifier would use a network that imitates it.

    Returns
    -------
    onnx.ModelProto
        Input "X" of shape (n, d) in double precision, outputs "score" and "probability" of shape (n,). The names of the
        columns are in its metadata, as a JSON list under "columns".

    Raises
    ------
    TypeError
        Where a column of the table is not a number, or a member of the stack is a model of your own.

    Examples
    --------
    >>> import numpy as np, onnxruntime
    >>> from purely import PUClassifier, stack
    >>> from purely.scale import to_onnx
    >>> rng = np.random.default_rng(0)
    >>> P, U = rng.normal(2, 1, (100, 2)), rng.normal(0, 2, (300, 2))
    >>> model = PUClassifier(0.3, members=["logistic", "boosting"]).fit(*stack(P, U))
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> (probability,) = session.run(["probability"], {"X": U})
    >>> bool(abs(probability - model.predict_proba(U)[:, 1]).max() < 1e-5)
    True
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    classifier = _distilled(steps[-1], exact)
    encoder = steps[0] if len(steps) == 2 else None
    if len(steps) > 2 or not (encoder is None or isinstance(encoder, TableEncoder)):
        names = ", ".join(type(step).__name__ for step in steps)
        raise TypeError(f"a pipeline must be a TableEncoder and a classifier to be exported; {names} were given.")
    graph = _Graph()
    if encoder is None:
        rows, columns = "X", [str(name) for name in getattr(classifier, "feature_names_in_", [])]
        width = classifier.n_features_in_
    else:
        rows, columns = _encoded(graph, encoder)
        width = len(columns)
    graph.add("Identity", [_log_odds(graph, classifier, rows)], "score")
    graph.add("Sigmoid", ["score"], "probability")
    return graph.finish(width, columns)


def _distilled(classifier: object, exact: bool) -> DistilledPUClassifier:
    if isinstance(classifier, PUClassifier):
        classifier = getattr(classifier, "distilled_", None) or classifier.distil()
    if not isinstance(classifier, DistilledPUClassifier):
        raise TypeError(f"only a PUClassifier can be exported; {type(classifier).__name__} was given.")
    return classifier.multiplied_out() if exact else classifier


class _Graph:
    """Nodes and constants, added one after another; every value is known by its name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: ArrayLike, dtype: type[np.generic] = np.float64) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def add(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def plus(self, value: str, constant: ArrayLike) -> str:
        return self.add("Add", [value, self.constant(constant)])

    def times(self, value: str, constant: ArrayLike) -> str:
        return self.add("Mul", [value, self.constant(constant)])

    def product(self, value: str, weights: ArrayLike) -> str:
        return self.add("MatMul", [value, self.constant(weights)])

    def within(self, value: str, low: float, high: float) -> str:
        return self.add("Clip", [value, self.constant(low), self.constant(high)])

    def finish(self, width: int, columns: list[str]) -> onnx.ModelProto:
        row = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, width])
        outputs = [helper.make_tensor_value_info(n, TensorProto.DOUBLE, [None]) for n in ("score", "probability")]
        graph = helper.make_graph(self.nodes, "purely", [row], outputs, self.constants)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", TREE_OPSET)]
        made = helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION, producer_name="purely")
        helper.set_model_props(made, {"columns": json.dumps(columns)})
        onnx.checker.check_model(made)
        return made


# -- before the classifier --------------------------------------------------------------------------------------------


def _encoded(graph: _Graph, encoder: TableEncoder) -> tuple[str, list[str]]:
    """Features of a table of numbers, as :class:`TableEncoder` makes them, and the columns that are needed."""
    plans = [plan for plan in encoder.report_.columns if plan.n_features]
    for plan in plans:
        if plan.kind not in ("number", "boolean"):
            raise TypeError(
                f"column {plan.name!r} holds {plan.kind} values, which the ONNX export does not encode; fit the model "
                "without it (--drop), or score tables with 'purely predict'."
            )
    usable = graph.add("LessOrEqual", [graph.add("Abs", ["X"]), graph.constant(LARGEST)])  # false of NaN
    fill, centre, scale = (
        [float(getattr(plan, name)[0]) if plan.places.size else default for plan in plans]
        for name, default in (("fill", 0.0), ("centre", 0.0), ("scale", 1.0))
    )
    filled = graph.add("Where", [usable, "X", graph.constant(fill)])
    scaled = graph.times(graph.plus(filled, -np.array(centre)), 1.0 / np.array(scale))
    missing = graph.add("Cast", [graph.add("Not", [usable])], to=TensorProto.DOUBLE)
    both = graph.add("Concat", [scaled, missing], axis=1)
    order: list[int] = []
    for place, plan in enumerate(plans):
        order += [place] * len(plan.places) + [place + len(plans)] * plan.missing
    return graph.add("Gather", [both, graph.constant(order, np.int64)], axis=1), [plan.name for plan in plans]


# -- the classifier ---------------------------------------------------------------------------------------------------


def _log_odds(graph: _Graph, classifier: DistilledPUClassifier, rows: str) -> str:
    if (imitation := classifier.imitation_) is not None:
        found = _network(graph, imitation.network, graph.plus(rows, -imitation.offset))
        return graph.within(found, imitation.low, imitation.high)
    total = ""
    for member in classifier.members_:
        score = _score(graph, member.score, member.name, rows)
        part = graph.times(_calibrated(graph, member.calibration, score), member.weight)
        total = graph.add("Add", [total, part]) if total else part
    return graph.plus(_calibrated(graph, classifier._final, total), classifier._population_shift())


def _score(graph: _Graph, score: object, name: str, rows: str) -> str:
    match score:
        case LinearScore():
            found = graph.plus(graph.product(rows, score.coef), score.intercept)
            return graph.within(found, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO) if score.limited else found
        case KernelScore():
            return _kernel(graph, score, rows)
        case TreeScore():
            return _trees(graph, score, rows)
        case NetworkScore():
            outputs = [_network(graph, network, rows) for network in score.networks]
            return graph.times(graph.add("Sum", outputs), 1.0 / len(outputs))
    raise TypeError(f"member {name!r} of the stack is a model of its own kind, which the ONNX export does not know.")


def _kernel(graph: _Graph, score: KernelScore, rows: str) -> str:
    """Bumps of the squared distances |x|² - 2 x'c + |c|²."""
    centers = score.centers.astype(np.float64)
    x = graph.times(graph.plus(rows, -score.mean), 1.0 / score.scale)
    squares = graph.add("ReduceSumSquare", [x], axes=[1], keepdims=1)
    distance = graph.plus(graph.product(x, -2.0 * centers.T), (centers**2).sum(axis=1))
    bumps = graph.add("Exp", [graph.times(graph.add("Add", [distance, squares]), -score.gamma)])
    found = graph.plus(graph.product(bumps, score.coef.astype(np.float64)), score.intercept)
    return graph.within(found, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO) if score.limited else found


def _trees(graph: _Graph, score: TreeScore, rows: str) -> str:
    """Leaves added up. Rows are rounded to single precision, as where the trees were trained, then compared."""
    single = graph.add("Cast", [graph.plus(rows, -score.offset)], to=TensorProto.FLOAT)
    sizes = np.diff(score.starts)
    tree, node = np.repeat(np.arange(sizes.size), sizes), np.concatenate([np.arange(size) for size in sizes])
    leaf = score.feature < 0
    summed = graph.add(
        "TreeEnsembleRegressor",
        [graph.add("Cast", [single], to=TensorProto.DOUBLE)],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=tree,
        nodes_nodeids=node,
        nodes_featureids=np.where(leaf, 0, score.feature),
        nodes_modes=["LEAF" if own else "BRANCH_LEQ" for own in leaf],
        nodes_values_as_tensor=_doubles(score.threshold),
        nodes_truenodeids=np.where(leaf, 0, score.left),
        nodes_falsenodeids=np.where(leaf, 0, score.right),
        target_treeids=tree[leaf],
        target_nodeids=node[leaf],
        target_ids=np.zeros(int(leaf.sum()), dtype=np.int64),
        target_weights_as_tensor=_doubles(score.value[leaf]),
    )
    # the sum comes in single precision
    total = graph.add("Squeeze", [graph.add("Cast", [summed], to=TensorProto.DOUBLE), graph.constant([1], np.int64)])
    if score.shares:
        share = graph.within(total, 0.0, 1.0)
        odds = graph.add("Div", [share, graph.add("Sub", [graph.constant(1.0), share])])
        total = graph.within(graph.add("Log", [odds]), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
    return graph.within(graph.plus(total, score.constant), -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def _doubles(values: Floats) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(values, dtype=np.float64), "values")


def _network(graph: _Graph, network: NetworkArrays, rows: str) -> str:
    for weights, bias, relu in (*network.encoder, *network.head):
        rows = graph.plus(graph.product(rows, weights), bias)
        rows = graph.add("Relu", [rows]) if relu else rows
    return graph.add("Squeeze", [rows, graph.constant([1], np.int64)])


def _calibrated(graph: _Graph, calibration: ScoreCalibration, score: str) -> str:
    knots, z = calibration.knots, calibration.log_odds
    inside = graph.within(score, float(knots[0]), float(knots[-1]))
    beyond = graph.times(graph.add("Sub", [score, inside]), calibration.end_slope)
    if knots.size == 1:
        return graph.plus(beyond, float(z[0]))
    column = graph.add("Unsqueeze", [inside, graph.constant([1], np.int64)])
    above = graph.add("GreaterOrEqual", [column, graph.constant(knots[1:-1])])
    counted = graph.add("ReduceSum", [graph.add("Cast", [above], to=TensorProto.INT64), graph.constant([1], np.int64)])
    place = graph.add("Squeeze", [counted, graph.constant([1], np.int64)])
    lines = knots[:-1], z[:-1], np.diff(z) / np.diff(knots)
    start, level, slope = (graph.add("Gather", [graph.constant(values), place]) for values in lines)
    risen = graph.add("Mul", [slope, graph.add("Sub", [inside, start])])
    return graph.add("Sum", [level, risen, beyond])
