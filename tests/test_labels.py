"""The one reader of labels: every coding, every refusal, stacking, and the three numbers called prior."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from purely import PUSMI, ClassPriors, PULogisticClassifier, stack
from purely.checks import check_share
from purely.exceptions import LabelWarning
from purely.label_words import find_meaning
from purely.labels import check_scenario, read_labels

HOW = "Mark labelled positives with 1 and unlabelled rows with 0."
MASK = np.array([True, False, False, True, False])

CODINGS = {
    "1/0": np.where(MASK, 1, 0),
    "1/-1": np.where(MASK, 1, -1),
    "True/False": MASK,
    "2/1": np.where(MASK, 2, 1),
    "2/0": np.where(MASK, 2, 0),
    "floats 1/0": np.where(MASK, 1.0, 0.0),
    "floats 1/-1": np.where(MASK, 1.0, -1.0),
    "floats 0.5/0.25": np.where(MASK, 0.5, 0.25),
    "float32": np.where(MASK, 1.0, 0.0).astype(np.float32),
    "int8": np.where(MASK, 1, -1).astype(np.int8),
    "unsigned": np.where(MASK, 1, 0).astype(np.uint8),
    "strings": np.where(MASK, "fraud", "unknown"),
    "object strings": np.where(MASK, "fraud", "unknown").astype(object),
    "object ints": np.where(MASK, 1, 0).astype(object),
    "list of ints": [1, 0, 0, 1, 0],
    "list of bools": [True, False, False, True, False],
    "tuple of strings": ("b", "a", "a", "b", "a"),
    "dates": np.where(MASK, np.datetime64("2021-01-01"), np.datetime64("2020-01-01")),
    "pandas int": pd.Series(np.where(MASK, 1, 0), index=[9, 3, 3, 1, 0]),
    "pandas bool": pd.Series(MASK),
    "pandas object": pd.Series(["b", "a", "a", "b", "a"], dtype=object),
    "pandas categorical": pd.Series(pd.Categorical(["b", "a", "a", "b", "a"])),
    "pandas categorical, other order": pd.Series(
        pd.Categorical(["b", "a", "a", "b", "a"], categories=["b", "a"], ordered=True)
    ),
    "pandas nullable int": pd.Series([1, 0, 0, 1, 0], dtype="Int64"),
    "pandas nullable bool": pd.Series([True, False, False, True, False], dtype="boolean"),
    "pandas string": pd.Series(["b", "a", "a", "b", "a"], dtype="string"),
    "polars int": pl.Series([1, 0, 0, 1, 0]),
    "polars bool": pl.Series([True, False, False, True, False]),
    "polars string": pl.Series(["b", "a", "a", "b", "a"]),
}


@pytest.mark.parametrize("y", CODINGS.values(), ids=CODINGS.keys())
def test_every_coding_is_read_alike_and_comes_back(y):
    labels = read_labels(y)
    np.testing.assert_array_equal(labels.positive, MASK)
    assert labels.positive.dtype == bool
    assert (labels.n_positive, labels.n_unlabelled) == (2, 3)
    assert labels.classes.shape == (2,)
    back = labels.encode(labels.positive)
    np.testing.assert_array_equal(back, np.asarray(y))
    np.testing.assert_array_equal(read_labels(back).positive, MASK)


@pytest.mark.parametrize("y", CODINGS.values(), ids=CODINGS.keys())
def test_encode_takes_any_mask(y):
    labels = read_labels(y)
    values = np.asarray(y)
    np.testing.assert_array_equal(labels.encode(~MASK), np.where(MASK, values[1], values[0]))


def test_a_column_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        labels = read_labels(np.where(MASK, 1, 0)[:, None])
    np.testing.assert_array_equal(labels.positive, MASK)


REFUSALS = {
    "a model": (LogisticRegression(), TypeError, "y is a LogisticRegression; labels are needed, one a row."),
    "three values": (
        [0, 1, 2],
        ValueError,
        "y has 3 different values (0, 1, 2); labels of positive and unlabelled rows have two. Turn the classes of "
        "interest into 1 and everything without a label into 0, for example y = (label == 'fraud').astype(int).",
    ),
    "seven values": (list("abcdefg"), ValueError, "y has 7 different values (a, b, c, d, e, ...);"),
    "only 1": (
        [1, 1],
        ValueError,
        f"y has only one class: every row is a labelled positive and there are no unlabelled rows. {HOW}",
    ),
    "only True": ([True, True], ValueError, "every row is a labelled positive and there are no unlabelled rows."),
    "only 0": (
        [0, 0],
        ValueError,
        f"y has only one class: every row is unlabelled and there is no labelled positive. {HOW}",
    ),
    "only -1": ([-1, -1.0], ValueError, "every row is unlabelled and there is no labelled positive."),
    "only False": ([False], ValueError, "every row is unlabelled and there is no labelled positive."),
    "only 7": (
        [7, 7],
        ValueError,
        f"y has only one class: every label is 7, so positives and unlabelled rows cannot be told apart. {HOW}",
    ),
    "only 'a'": (["a"], ValueError, "every label is 'a', so positives and unlabelled rows cannot be told apart."),
    "-1 and 0": (
        [-1, 0, 0],
        ValueError,
        f"y has only the values -1 and 0, neither of which marks a labelled positive. {HOW}",
    ),
    "-1.0 and 0.0": ([-1.0, 0.0], ValueError, "y has only the values -1.0 and 0.0, neither of which"),
    "NaN": (
        [1.0, np.nan, 0.0, np.nan],
        ValueError,
        f"y has 2 missing label(s) (NaN or None); an unlabelled row is not a missing value. {HOW}",
    ),
    "NaN for unlabelled": ([1.0, np.nan], ValueError, "y has 1 missing label(s)"),
    "None": ([1, None, 0], ValueError, "y has 1 missing label(s)"),
    "None among strings": (["a", None, "b"], ValueError, "y has 1 missing label(s)"),
    "NaN among strings": (["a", "b", float("nan")], ValueError, "y has 1 missing label(s)"),
    "pd.NA": (pd.Series([1, pd.NA, 0], dtype="Int64"), ValueError, "y has 1 missing label(s)"),
    "NaN in a categorical": (pd.Series(["a", "b", np.nan], dtype="category"), ValueError, "y has 1 missing label(s)"),
    "null in polars": (pl.Series([1, None, 0]), ValueError, "y has 1 missing label(s)"),
    "null string in polars": (pl.Series(["a", None, "b"]), ValueError, "y has 1 missing label(s)"),
    "NaT": (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), ValueError, "y has 1 missing label(s)"),
    "inf": ([1.0, np.inf], ValueError, f"y has infinite values (inf); they are not labels. {HOW}"),
    "inf as an object": (np.array([1, -np.inf], dtype=object), ValueError, "y has infinite values (inf)"),
    "numbers and strings, object": (
        np.array([2, "a"], dtype=object),
        TypeError,
        f"y mixes values that cannot be ordered (int, str), so the positive one cannot be told. {HOW}",
    ),
    "numbers and strings, list": ([2, "a", 2], TypeError, "y mixes values that cannot be ordered (int, str)"),
    "continuous": (
        [0.1, 0.2, 0.35],
        ValueError,
        f"Unknown label type: continuous. y has 3 different real values; labels of positive and unlabelled rows have "
        f"two. {HOW}",
    ),
    "empty": ([], ValueError, f"y is empty: there are no labels to read. {HOW}"),
    "sparse": (
        sp.csr_matrix([[1, 0, 1]]),
        TypeError,
        f"y is a sparse matrix; a plain one-dimensional array of labels is needed. {HOW}",
    ),
    "no y": (None, ValueError, f"requires y to be passed, but the target y is None. {HOW}"),
    "two columns": (np.ones((3, 2)), ValueError, "y should be a 1d array"),
    "a number": (1, ValueError, "y should be a 1d array"),
    "complex": (np.array([1j, 0]), ValueError, "Complex data not supported"),
}


@pytest.mark.parametrize(("y", "error", "sentence"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals_say_what_is_wrong(y, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)):
        read_labels(y)


@pytest.mark.parametrize(
    ("needed", "sentence"),
    [
        ({"min_positive": 3}, "y has 2 labelled positive row(s) (n_samples=5 in all), but at least 3 are needed."),
        ({"min_unlabelled": 4}, "y has 3 unlabelled row(s) (n_samples=5 in all), but at least 4 are needed."),
    ],
)
def test_too_few_rows_of_a_kind(needed, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_labels(MASK, **needed)


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], ["a", "b"], [False, True]])
def test_a_batch_of_one_kind_is_read_where_the_coding_is_known(classes):
    for which, value in enumerate(classes):
        labels = read_labels([value] * 4, classes=classes)
        assert labels.positive.tolist() == [bool(which)] * 4
        np.testing.assert_array_equal(labels.classes, classes)


def test_a_batch_in_another_coding_is_refused():
    sentence = (
        "y has the value 2, but the labels so far were 0 (unlabelled) and 1 (positive). Keep one coding for all "
        "batches."
    )
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_labels([0, 1, 2, 2], classes=[0, 1])


#: Pairs of words, the positive one first: all were read backwards while the greater word was taken.
WORDS = [
    ("fraud", "unknown"),
    ("sick", "unknown"),
    ("Ja", "Nein"),
    ("oui", "non"),
    ("Betrug", "unbekannt"),
    ("positive", "unlabelled"),
    ("labelled", "unlabelled"),
    ("P", "U"),
    ("p", "u"),
    ("Labeled", "Un-Labeled"),
    ("YES", "no"),
    ("fraud", "none"),
    ("fraud", ""),
    ("fraud", "not labelled"),
    ("positive", "negative"),
    ("fraud", "negative"),
    ("confirmed", "?"),
    ("1", "0"),
    ("1.0", ""),
]


@pytest.mark.parametrize(("positive", "unlabelled"), WORDS)
def test_words_mean_what_they_say(positive, unlabelled):
    y = np.where(MASK, positive, unlabelled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = read_labels(y)
    np.testing.assert_array_equal(labels.positive, MASK)
    np.testing.assert_array_equal(labels.classes, [unlabelled, positive])
    rule = find_meaning([unlabelled, positive])
    assert (rule.positive, rule.unlabelled, rule.negative, rule.guessed) == (positive, unlabelled, None, False)


@pytest.mark.parametrize(("low", "high"), [("a", "b"), ("case", "control"), (1, 2), (0.25, 0.5), ("1", "2"), (9, 10)])
def test_two_values_that_say_nothing_warn_and_name_the_one_taken(low, high):
    with pytest.warns(LabelWarning, match=re.escape(f"{high!r}, the greater, is taken as the labelled positive")):
        labels = read_labels(np.where(MASK, high, low))
    np.testing.assert_array_equal(labels.positive, MASK)


@pytest.mark.parametrize(
    ("positive", "unlabelled", "negative"),
    [("positive", "unknown", "negative"), ("fraud", "unknown", "no"), ("1", "", "0"), ("yes", "unlabelled", "no")],
)
def test_known_negatives_are_named_counted_and_set_aside(positive, unlabelled, negative):
    y = np.array([positive, unlabelled, negative, unlabelled, negative, positive, negative])
    with pytest.raises(ValueError, match=re.escape(f"y marks known negatives ({negative!r})")):
        read_labels(y)
    with pytest.warns(LabelWarning, match=re.escape(f"3 rows are known negatives ({negative!r}); they are set aside")):
        labels = read_labels(y, known_negatives=True)
    assert (labels.n_positive, labels.n_unlabelled, labels.n_negative) == (2, 2, 3)
    np.testing.assert_array_equal(labels.negative, y == negative)


def test_an_estimator_leaves_known_negatives_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.repeat(["positive", "unknown", "negative"], 100)
    X[y == "positive"] += 2.0
    with pytest.warns(LabelWarning, match="100 rows are known negatives"):
        fitted = PUSMI(n_centers=20).fit(X, y)
    expected = PUSMI(n_centers=20).fit(X[:200], y[:200])
    np.testing.assert_array_equal(fitted.coef_, expected.coef_)


@pytest.mark.parametrize("words", [("fraud", "unknown"), ("positive", "unlabelled"), ("P", "U"), ("sick", "unknown")])
def test_a_classifier_ranks_the_positives_of_words_first(words):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(2, 1, (80, 2)), rng.normal(2, 1, (80, 2)), rng.normal(-2, 1, (80, 2))])
    y = np.where(np.arange(240) < 80, *words)
    model = PULogisticClassifier(0.5).fit(X, y)
    assert roc_auc_score(np.arange(80, 240) < 160, model.predict_proba(X[80:])[:, 1]) > 0.95
    assert set(model.predict(X)) == set(words)
    assert model.predict([[3.0, 3.0]])[0] == words[0]


# -- stack -------------------------------------------------------------------------------------------------------------


P, U = np.arange(6.0).reshape(3, 2), np.arange(10.0).reshape(5, 2) - 4.0
KINDS = {
    "lists": lambda rows: rows.tolist(),
    "dense": lambda rows: rows,
    "float32": lambda rows: rows.astype(np.float32),
    "csr matrix": sp.csr_matrix,
    "csc array": sp.csc_array,
    "coo": sp.coo_matrix,
    "pandas": lambda rows: pd.DataFrame(rows, columns=["a", "b"], index=np.arange(len(rows)) + 7),
    "polars": lambda rows: pl.DataFrame(rows, schema=["a", "b"]),
}


def as_dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("kind", KINDS)
def test_stack_keeps_the_kind_and_puts_positives_first(kind):
    p, u = KINDS[kind](P), KINDS[kind](U)
    X, y = stack(p, u)
    np.testing.assert_array_equal(as_dense(X), np.vstack([P, U]))
    np.testing.assert_array_equal(y, [1, 1, 1, 0, 0, 0, 0, 0])
    if kind in ("pandas", "polars"):
        assert type(X) is type(p)
        assert list(X.columns) == ["a", "b"]
    if kind == "float32":
        assert X.dtype == np.float32
    assert sp.issparse(X) == (kind in ("csr matrix", "csc array", "coo"))


def test_stack_of_sparse_and_dense_is_sparse():
    X, _ = stack(sp.csr_matrix(P), U)
    assert sp.issparse(X)
    np.testing.assert_array_equal(X.toarray(), np.vstack([P, U]))


def test_stack_takes_single_rows():
    X, y = stack(P[:1], U[:1])
    assert X.shape == (2, 2)
    assert y.tolist() == [1, 0]


STACK_REFUSALS = {
    "columns": ((P, U[:, :1]), "P has 2 columns and U has 1; they must have the same columns."),
    "sparse columns": ((sp.csr_matrix(P), sp.csr_matrix(U[:, :1])), "P has 2 columns and U has 1;"),
    "names": (
        (pd.DataFrame(P, columns=["a", "b"]), pd.DataFrame(U, columns=["a", "c"])),
        "P and U have different columns: b, c. Give both the same columns.",
    ),
    "order of names": (
        (pd.DataFrame(P, columns=["a", "b"]), pd.DataFrame(U, columns=["b", "a"])),
        "P and U have different columns: the order. Give both the same columns.",
    ),
    "polars names": (
        (pl.DataFrame(P, schema=["a", "b"]), pl.DataFrame(U, schema=["a", "c"])),
        "P and U have different columns: b, c.",
    ),
    "one dimension": (
        (P[:, 0], U),
        "P must have two dimensions (rows, columns); its shape is (3,). Reshape a single column with .reshape(-1, 1).",
    ),
    "three dimensions": ((P, U[None]), "U must have two dimensions (rows, columns); its shape is (1, 5, 2)."),
    "no positives": ((P[:0], U), "P has no rows; both P and U are needed."),
    "no unlabelled": ((P, U[:0]), "U has no rows; both P and U are needed."),
    "None": ((None, U), "P must have two dimensions"),
}


@pytest.mark.parametrize(("parts", "sentence"), STACK_REFUSALS.values(), ids=STACK_REFUSALS.keys())
def test_stack_refusals(parts, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        stack(*parts)


# -- priors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.9, 1.0])
def test_three_ways_to_the_same_priors(scenario, share):
    counts = {"n_positive": 137, "n_unlabelled": 411, "scenario": scenario}
    priors = ClassPriors.from_unlabelled(share, **counts)
    for other in (
        ClassPriors.from_population(priors.population, **counts),
        ClassPriors.from_label_frequency(priors.label_frequency, **counts),
    ):
        assert other.scenario == scenario
        assert other.population == pytest.approx(priors.population, abs=1e-12)
        assert other.unlabelled == pytest.approx(priors.unlabelled, abs=1e-12)
        assert other.label_frequency == pytest.approx(priors.label_frequency, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_priors_are_the_shares_of_a_simulated_sample(seed, scenario):
    rng = np.random.default_rng(seed)
    n, prior, frequency = 40_000, 0.35, 0.4
    truth = rng.random(n) < prior
    if scenario == "single-sample":
        labelled = truth & (rng.random(n) < frequency)
        n_p, hidden, n_u = int(labelled.sum()), int((truth & ~labelled).sum()), int((~labelled).sum())
        # of this sample, exactly
        assert truth.mean() == pytest.approx((n_p + hidden) / (n_p + n_u))
    else:
        n_p, hidden, n_u = 9_000, int(truth.sum()), n
    priors = ClassPriors.from_unlabelled(hidden / n_u, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)
    assert priors.unlabelled == hidden / n_u
    assert priors.label_frequency == pytest.approx(n_p / (n_p + hidden))
    # of the population, up to five standard errors of a share of n rows
    error = 5 * np.sqrt(0.25 / n)
    assert priors.population == pytest.approx(prior, abs=error)
    if scenario == "single-sample":
        assert priors.label_frequency == pytest.approx(frequency, abs=error / np.sqrt(prior))


def test_case_control_keeps_the_population_prior_in_the_unlabelled_rows():
    priors = ClassPriors.from_population(0.2, n_positive=50, n_unlabelled=100)
    assert priors.scenario == "case-control"
    assert priors.unlabelled == priors.population == 0.2
    assert priors.label_frequency == pytest.approx(50 / 70)


COUNTS = {"n_positive": 100, "n_unlabelled": 300}
PRIOR_REFUSALS = {
    "below the labelled share": (
        lambda: ClassPriors.from_population(0.1, **COUNTS, scenario="single-sample"),
        ValueError,
        "a population prior of 0.1 is below the labelled share 0.25: in the single-sample scenario the labelled rows "
        "alone are more positives than that.",
    ),
    "too low a frequency": (
        lambda: ClassPriors.from_label_frequency(0.2, **COUNTS),
        ValueError,
        "a label_frequency of 0.2 with 100 labelled rows means 400 further positives, but there are only 300 "
        "unlabelled rows.",
    ),
    "frequency 0": (lambda: ClassPriors.from_label_frequency(0.0, **COUNTS), ValueError, "label_frequency must be"),
    "frequency 1.1": (
        lambda: ClassPriors.from_label_frequency(1.1, **COUNTS),
        ValueError,
        "label_frequency must be a number of at least 0 and at most 1; 1.1 was given.",
    ),
    "share -0.1": (
        lambda: ClassPriors.from_unlabelled(-0.1, **COUNTS),
        ValueError,
        "unlabelled must be a number of at least 0 and at most 1; -0.1 was given.",
    ),
    "share NaN": (lambda: ClassPriors.from_unlabelled(np.nan, **COUNTS), ValueError, "unlabelled must be a number"),
    "prior 1.2": (
        lambda: ClassPriors.from_population(1.2, **COUNTS),
        ValueError,
        "population must be a number of at least 0 and at most 1; 1.2 was given.",
    ),
    "prior None": (lambda: ClassPriors.from_population(None, **COUNTS), ValueError, "population must be a number"),
    "prior True": (lambda: ClassPriors.from_population(True, **COUNTS), ValueError, "population must be a number"),
    "no positives": (
        lambda: ClassPriors.from_unlabelled(0.5, n_positive=0, n_unlabelled=3),
        ValueError,
        "n_positive must be an integer of at least 1; 0 was given.",
    ),
    "half a row": (
        lambda: ClassPriors.from_unlabelled(0.5, n_positive=1, n_unlabelled=2.5),
        ValueError,
        "n_unlabelled must be an integer of at least 1; 2.5 was given.",
    ),
    "scenario": (
        lambda: ClassPriors.from_unlabelled(0.5, **COUNTS, scenario="two-sample"),
        ValueError,
        "scenario must be 'case-control' or 'single-sample'; 'two-sample' was given.",
    ),
}


@pytest.mark.parametrize(("call", "error", "sentence"), PRIOR_REFUSALS.values(), ids=PRIOR_REFUSALS.keys())
def test_prior_refusals(call, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)):
        call()


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.2, 1.3, np.nan, np.inf])
def test_class_prior_out_of_range(value):
    with pytest.raises(ValueError, match=r"class_prior must be a number strictly between 0 and 1; .* was given\."):
        check_share("class_prior", value)


@pytest.mark.parametrize("value", [None, "0.3", True, np.True_, [0.3], 0.3j])
def test_class_prior_of_the_wrong_type(value):
    with pytest.raises(ValueError, match=r"my_prior must be a number strictly between 0 and 1; .* was given\."):
        check_share("my_prior", value)


@pytest.mark.parametrize("value", [0.3, np.float32(0.3), np.float64(0.3)])
def test_class_prior_comes_back_as_a_float(value):
    assert type(check_share("class_prior", value)) is float
    assert check_share("class_prior", value) == pytest.approx(0.3)


def test_scenarios():
    assert check_scenario("case-control") == "case-control"
    assert check_scenario("single-sample") == "single-sample"
    for bad in ("Case-Control", None, 1, np.array([1, 2])):
        with pytest.raises(ValueError, match="scenario must be 'case-control' or 'single-sample'"):
            check_scenario(bad)
