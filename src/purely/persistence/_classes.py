"""Which classes a file may name, and which attributes their objects may have."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import CodeType
from typing import Any

from sklearn.base import BaseEstimator

from purely.persistence._limits import need

__all__ = ["attribute_problem", "class_from_name", "class_name", "parameters"]

#: Rooms of purely that define estimators and what they hold.
ROOMS = frozenset(
    {
        "assumptions",
        "calibration",
        "classifiers",
        "labels",
        "metrics",
        "model_selection",
        "nn",
        "prior",
        "representation",
        "smi",
        "tables",
    }
)

_BY_MODULE = {
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.compose": "ColumnTransformer TransformedTargetRegressor make_column_selector",
    "sklearn.decomposition": "PCA IncrementalPCA NMF TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": "AdaBoostClassifier BaggingClassifier ExtraTreesClassifier ExtraTreesRegressor "
    "GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier HistGradientBoostingRegressor "
    "RandomForestClassifier RandomForestRegressor VotingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.feature_extraction": "DictVectorizer FeatureHasher",
    "sklearn.feature_extraction.text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
    "sklearn.feature_selection": "SelectKBest SelectPercentile VarianceThreshold",
    "sklearn.impute": "MissingIndicator SimpleImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.kernel_approximation": "Nystroem RBFSampler",
    "sklearn.linear_model": "LinearRegression LogisticRegression LogisticRegressionCV Perceptron Ridge RidgeClassifier "
    "SGDClassifier SGDRegressor",
    "sklearn.multiclass": "OneVsRestClassifier",
    "sklearn.naive_bayes": "BernoulliNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors": "KNeighborsClassifier",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": "Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler "
    "MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PowerTransformer QuantileTransformer RobustScaler "
    "StandardScaler",
    "sklearn.random_projection": "GaussianRandomProjection SparseRandomProjection",
    "sklearn.svm": "LinearSVC",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "sklearn.tree._tree": "Tree",
    "sklearn._loss.loss": "HalfBinomialLoss HalfMultinomialLoss HalfSquaredError",
}
#: Classes of scikit-learn that a file may name, by the name under which they are stored.
SKLEARN = frozenset(f"{module}.{name}" for module, names in _BY_MODULE.items() for name in names.split())

#: Attributes that functions outside the class set.
_COMMON = frozenset({"n_features_in_", "feature_names_in_", "_sklearn_output_config", "_n_features_out"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")


@lru_cache(maxsize=512)
def class_name(cls: Any) -> str | None:
    """The name under which a class is stored; None for a class that no file may name."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    if cls.__module__.split(".")[0] == "purely":
        return name if _of_purely(name) is cls else None
    for stored in _stored_names(cls.__name__):
        if _lookup(stored) is cls:
            return stored
    return None


def class_from_name(name: Any) -> type:
    """The class of a stored name, which must be one that models are made of."""
    known = isinstance(name, str) and (name in SKLEARN or name.startswith("purely."))
    cls = (_lookup(name) if name in SKLEARN else _of_purely(name)) if known else None
    need(cls is not None, f"the class {str(name)[:100]!r} is not one that models are made of in the versions installed")
    assert cls is not None
    return cls


def _stored_names(short: str) -> Iterator[str]:
    return (f"{module}.{short}" for module, names in _BY_MODULE.items() if short in names.split())


@lru_cache(maxsize=512)
def _lookup(name: str) -> type | None:
    module, _, short = name.rpartition(".")
    try:
        found = getattr(import_module(module), short)
    except (ImportError, AttributeError):  # another version of scikit-learn
        return None
    return found if isinstance(found, type) else None


@lru_cache(maxsize=512)
def _of_purely(name: str) -> type | None:
    """A class defined in one of the rooms: an estimator or a dataclass. No other module is ever imported."""
    module, _, short = name.rpartition(".")
    parts = module.split(".")
    if len(parts) < 2 or parts[0] != "purely" or (parts[1] not in ROOMS and module != "purely.class_prior"):
        return None
    if not all(_NAME.match(part) for part in (*parts, short)) or any(part.startswith("__") for part in (*parts, short)):
        return None
    try:
        if find_spec(module) is None:
            return None
    except ModuleNotFoundError:
        return None
    found = getattr(import_module(module), short, None)
    if not isinstance(found, type) or found.__module__ != module or found.__qualname__ != short:
        return None
    return found if issubclass(found, BaseEstimator) or dataclasses.is_dataclass(found) else None


@lru_cache(maxsize=512)
def parameters(cls: type) -> dict[str, Any]:
    """Parameters of the constructor and their defaults."""
    if not issubclass(cls, BaseEstimator) or cls.__init__ is object.__init__:  # type: ignore[misc]
        return {}
    found = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {p.name: p.default for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def attribute_problem(cls: type, name: Any) -> str | None:
    """Why an object of a class cannot have an attribute of this name; None where it can."""
    if not isinstance(name, str) or not _NAME.match(name) or name.startswith("__"):
        return "is not a name that an attribute of a model has"
    if dataclasses.is_dataclass(cls):
        return None if name in {f.name for f in dataclasses.fields(cls)} else f"is not a field of {cls.__name__}"
    if name in parameters(cls):
        return None
    held = inspect.getattr_static(cls, name, None)
    if callable(held) or hasattr(held, "__get__"):
        return f"is a method or property of {cls.__name__}"
    if name in _COMMON or name in _names_in_code(cls) or name.endswith("_"):
        return None
    return f"is not an attribute that {cls.__name__} sets"


@lru_cache(maxsize=512)
def _names_in_code(cls: type) -> frozenset[str]:
    """Names that the code of a class and of its bases mentions: what its methods set is among them."""
    found: set[str] = set()
    for base in cls.__mro__[:-1]:
        for value in vars(base).values():
            code = getattr(inspect.unwrap(value) if inspect.isfunction(value) else value, "__code__", None)
            if isinstance(code, CodeType):
                found |= _names(code)
    return frozenset(found)


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _names(inner)
    return found
