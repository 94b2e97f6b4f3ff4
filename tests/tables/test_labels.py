"""Labels of a column: the rule is the library's, spellings are one value, known negatives are seen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from purely.exceptions import LabelWarning
from purely.labels import read_labels
from purely.tables import TableError, find_label_rule
from purely.tables.labels import LabelValues

PAIRS = [
    ("1", "0"),
    ("1", "-1"),
    ("1", ""),
    ("true", "false"),
    ("Yes", "no"),
    ("fraud", ""),
    ("fraud", "unknown"),
    ("sick", "unknown"),
    ("positive", "unlabelled"),
    ("P", "U"),
    ("labelled", "not labelled"),
    ("2", "1"),
    ("7", "3"),
    ("dog", "cat"),
    ("surely", "maybe"),
]


@pytest.mark.parametrize(("positive", "other"), PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_a_column_is_read_as_the_library_reads_it(positive, other, turned):
    y = [positive, other, other, positive, other]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expected = read_labels(y)
    counts = {other: 3, positive: 2} if turned else {positive: 2, other: 3}
    rule = find_label_rule("y", counts)
    assert rule.positive == positive
    np.testing.assert_array_equal(rule.of(pa.array(y)) == 1, expected.positive)
    assert (rule.n_positive, rule.n_unlabelled, rule.n_negative) == (2, 3, 0)
    # a guess is said by both
    assert rule.guessed == any(issubclass(w.category, LabelWarning) for w in caught)
    assert any(f"{positive!r}, the greater" in note for note in rule.notes) == rule.guessed


@pytest.mark.parametrize(
    ("counts", "positive", "negative"),
    [
        ({"1": 5, "0": 2, "": 9}, "1", "0"),
        ({"positive": 5, "negative": 2, "unknown": 9}, "positive", "negative"),
        ({"Yes": 5, "no": 2, "unknown": 4, "": 5}, "Yes", "no"),
        ({"fraud": 5, "no": 2, "?": 9}, "fraud", "no"),
    ],
)
def test_known_negatives_are_seen_counted_and_said(counts, positive, negative):
    rule = find_label_rule("y", counts)
    assert (rule.positive, rule.negative) == (positive, negative)
    assert (rule.n_positive, rule.n_negative, rule.n_unlabelled) == (5, 2, 9)
    assert any("2 rows are known negatives" in note for note in rule.notes)
    assert find_label_rule("y", counts, negative="none").n_unlabelled == 11
    assert find_label_rule("y", counts, positive).n_negative == 2


def test_what_is_asked_for_is_taken():
    counts = {"fraud": 5, "legal": 3, "": 9}
    with pytest.raises(TableError, match="--positive"):
        find_label_rule("y", counts)
    rule = find_label_rule("y", counts, "Fraud")
    assert (rule.n_positive, rule.n_negative, rule.n_unlabelled) == (5, 0, 12)
    assert "also those with 'legal' (3 rows)" in rule.notes[0]
    assert find_label_rule("y", counts, negative="legal").n_negative == 3
    with pytest.raises(TableError, match="no value 'bad'"):
        find_label_rule("y", counts, "bad")
    with pytest.raises(TableError, match="positives and negatives at once"):
        find_label_rule("y", counts, "fraud", "FRAUD")


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"": 5}, "is empty in every row"),
        ({"1": 5}, "no unlabelled rows"),
        ({"0": 5}, "no labelled positive"),
        ({"0": 5, "": 3}, "no labelled positive"),
        ({"a": 5}, "leave the label of unlabelled rows empty"),
        ({"1": 5, "2": 3, "0": 1}, "--positive"),
        ({"cat": 5, "dog": 5, "cow": 3}, "--positive"),
    ],
)
def test_labels_that_cannot_be_told_are_refused(counts, message):
    with pytest.raises(TableError, match=message):
        find_label_rule("y", counts)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 0, None, 1]),
        pa.array([1.0, 0.0, float("nan"), 1.0]),
        pa.array(["1", "0.0", "", "1.00"]),
        pa.array([" 1", "-0", None, "+1"]).dictionary_encode(),
    ],
)
def test_spellings_of_a_number_are_one_value(column):
    values = LabelValues("y")
    assert values.read(column).tolist() == [1, 2, 0, 1]
    assert list(values.keys) == ["", "1", "0"]


def test_spellings_of_a_word_are_one_value_and_the_commonest_is_shown():
    values = LabelValues("y")
    values.read(pa.array(["FRAUD", " fraud", None]))
    values.read(pa.array(["fraud", "Unknown", "unknown  "]))
    assert values.spelt() == {"": 1, "fraud": 3, "Unknown": 2}
    assert find_label_rule("y", values.spelt()).n_unlabelled == 3
    with pytest.raises(TableError, match="more than 20 different values"):
        values.read(pa.array([f"v{i}" for i in range(30)]))
