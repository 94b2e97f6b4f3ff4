"""A pool in parts gives what a pool in one piece gives."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import purely
from purely import PUSMI, ClassPrior, PUClassifier, PULogisticClassifier, stack
from purely.checks import draw_seed
from purely.folds import Folds, row_keys
from purely.labels import read_labels
from purely.prior.scores import ScoreTable
from purely.scale import BatchScorer, pool_information, pool_prior
from purely.scale.prior import Drawn

pa = pytest.importorskip("pyarrow")


def draw(seed, n_positive=300, n_unlabelled=1500, share=0.3, columns=3):
    rng = np.random.default_rng(seed)
    P, U = rng.normal(size=(n_positive, columns)), rng.normal(size=(n_unlabelled, columns))
    P[:, :2] += 2.0
    U[: round(share * n_unlabelled), :2] += 2.0
    return P, U[rng.permutation(n_unlabelled)]


def same_folds(X, positive, n_folds):
    keys = row_keys(X, draw_seed(0))
    return Folds((keys % np.uint64(n_folds)).astype(np.intp), n_folds, np.lexsort((positive, keys)))


RATIO = ["linear", "boosting"]


@pytest.mark.parametrize("seed", range(2))
def test_the_prior_is_that_of_one_machine_on_the_same_folds(seed):
    P, U = draw(seed)
    X, y = stack(P, U)
    settings = ClassPrior(RATIO)
    one = ClassPrior(RATIO).fit_rows(X, read_labels(y), same_folds(X, y == 1, 5))
    for n_parts in (1, 7):
        many = pool_prior(P, np.array_split(U, n_parts), estimator=settings)
        assert many.class_prior_ == pytest.approx(one.class_prior_, abs=1e-6)
        assert many.class_prior_interval_ == pytest.approx(one.class_prior_interval_, abs=1e-6)
        assert many.n_unlabelled_ == len(U)
        assert many.determined_ == one.determined_


def test_parts_do_not_matter_where_models_see_a_sample():
    P, U = draw(0, n_unlabelled=3000)
    found = [pool_prior(P, np.array_split(U, n), estimator=ClassPrior(RATIO), most_rows=400) for n in (1, 2, 9)]
    for prior in found[1:]:
        assert prior.class_prior_ == pytest.approx(found[0].class_prior_, abs=1e-9)
    shuffled = pool_prior(P, np.array_split(U[::-1], 4), estimator=ClassPrior(RATIO), most_rows=400)
    assert shuffled.class_prior_ == pytest.approx(found[0].class_prior_, abs=1e-6)
    low, high = found[0].class_prior_interval_
    assert low < 0.3 < high


def test_rows_of_the_lowest_keys_do_not_depend_on_the_parts():
    _, U = draw(3, n_unlabelled=500)
    keys = row_keys(U, 0)
    whole = Drawn.of(U, keys, 100)
    parts = [Drawn.of(U[rows], keys[rows], 100) for rows in np.array_split(np.arange(500), 6)]
    merged = Drawn.merge([Drawn.merge(parts[:2]), Drawn.merge(parts[2:])])
    np.testing.assert_array_equal(merged.X, whole.X)
    assert merged.n_rows == 500


def test_frames_and_an_encoder():
    P, U = draw(1)
    names = ["a", "b", "c"]
    frames = [pd.DataFrame(part, columns=names).assign(name="x") for part in np.array_split(U, 3)]
    found = pool_prior(
        pd.DataFrame(P, columns=names), frames, estimator=ClassPrior("linear"), encode=lambda frame: frame[names]
    )
    expected = pool_prior(P, [U], estimator=ClassPrior("linear"))
    assert found.class_prior_ == pytest.approx(expected.class_prior_, abs=1e-9)


def test_scenarios_and_settings_are_those_of_the_estimator():
    P, U = draw(1)
    found = pool_prior(P, [U], estimator=ClassPrior("linear", scenario="single-sample", level=0.5))
    assert found.prior_.level == 0.5
    assert found.class_prior_ > found.unlabelled_prior_


def test_bad_pools():
    P, U = draw(0)
    broken = [U[:100], np.full((10, 3), np.nan)]
    with pytest.raises(ValueError, match="part 1 of the pool cannot be used: some values are missing or infinite"):
        pool_prior(P, broken)
    with pytest.raises(ValueError, match="the pool has no parts"):
        pool_prior(P, [])
    with pytest.raises(ValueError, match="the pool has 2 columns and the positives have 3"):
        pool_prior(P, [U[:, :2]])
    with pytest.raises(ValueError, match="different numbers of columns"):
        pool_prior(P, [U, U[:, :2]])
    with pytest.raises(ValueError, match=r"the positives cannot be used: .*could not convert"):
        pool_prior(np.array([["a", "b", "c"]]), [U])


def test_a_table_gives_what_the_scores_give():
    P, U = draw(2)
    prior = ClassPrior("linear").fit(*stack(P, U))
    positive = np.arange(len(P) + len(U)) < len(P)
    table = ScoreTable.from_scores(prior.scores_[positive], prior.scores_[~positive])
    again = ClassPrior("linear").fit_table(table, n_features=3)
    assert again.class_prior_ == prior.class_prior_
    assert again.class_prior_interval_ == prior.class_prior_interval_


@pytest.mark.parametrize("n_parts", [1, 5])
def test_information_is_that_of_a_stream(n_parts):
    P, U = draw(0)
    model = PUSMI(n_centers=30)
    found = pool_information(P, np.array_split(U, n_parts), estimator=model)
    stream = PUSMI(n_centers=30, centers=found.centers_)
    stream.partial_fit(*stack(P, U))
    assert found.information_ == pytest.approx(stream.information_, rel=1e-9)
    assert found.bandwidth_ == stream.bandwidth_
    np.testing.assert_allclose(found.coef_, stream.coef_, rtol=1e-6, atol=1e-9)


def test_sums_of_other_settings_are_refused():
    P, U = draw(0)
    a, b = (PUSMI(n_centers=n).partial_fit(*stack(P, U)) for n in (10, 11))
    with pytest.raises(ValueError, match="need the same centers, bandwidth and cv"):
        a.add_sums(b.sums_)


# -- one scorer for every engine --------------------------------------------------------------------------------------

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    P, U = draw(0, 100, 300)
    X, y = stack(P, U)
    fitted = PUClassifier(0.3, members=["linear", "kernel-logistic"], cv=2).fit(pd.DataFrame(X, columns=NAMES), y)
    fitted.distilled_ = fitted.distil()
    path = tmp_path_factory.mktemp("model") / "m.purely"
    purely.save(fitted, path)
    return fitted, path


@pytest.fixture
def batch():
    return pd.DataFrame(draw(5)[1][:50], columns=NAMES).assign(name=[f"r{i}" for i in range(50)])


def test_every_kind_of_batch(model, batch):
    fitted, path = model
    expected = fitted.predict_proba(batch[NAMES])[:, 1]
    scorer = BatchScorer(path, keep=("name",))
    frame = scorer(batch)
    assert list(frame.columns) == ["name", "score", "probability", "label"]
    np.testing.assert_allclose(frame["probability"], expected, atol=1e-4)
    np.testing.assert_array_equal(frame["label"], frame["probability"] > 0.5)
    columns = scorer({name: batch[name].to_numpy() for name in batch})
    assert list(columns) == list(frame.columns)
    table = scorer(pa.Table.from_pandas(batch))
    for found in (columns["score"], table["score"].to_numpy()):
        np.testing.assert_allclose(found, frame["score"])
    array = BatchScorer(PULogisticClassifier(0.3).fit(*stack(*draw(0))))(batch[NAMES].to_numpy())
    assert set(array) == {"score", "probability", "label"}


def test_exact_and_threshold(model, batch):
    fitted, path = model
    exact = BatchScorer(path, exact=True)(batch)
    np.testing.assert_allclose(exact["probability"], fitted.predict_proba(batch[NAMES])[:, 1], rtol=1e-12)
    assert BatchScorer(path, threshold=1e-9)(batch)["label"].all()


def test_the_contract_of_spark(model, batch):
    """`mapInPandas` gives an iterator of frames to a function that was pickled, and takes an iterator of frames."""
    scorer = BatchScorer(model[1], keep=("name",))
    each = pickle.loads(pickle.dumps(scorer.each))
    found = list(each(iter([batch[:20], batch[20:20], batch[20:]])))
    assert [len(frame) for frame in found] == [20, 0, 30]
    assert {str(frame.dtypes["score"]) for frame in found} == {"float64"}
    assert {str(frame.dtypes["label"]) for frame in found} == {"int8"}
    pd.testing.assert_frame_equal(pd.concat(found), scorer(batch))


def test_a_worker_loads_the_model_once(model, batch, monkeypatch):
    loads = []
    monkeypatch.setattr("purely.scale.scorer.load", lambda path: loads.append(path) or model[0])
    from purely.scale import scorer as module

    module._loaded.cache_clear()
    for _ in range(3):
        pickle.loads(pickle.dumps(BatchScorer(model[1])))(batch)
    assert len(loads) == 1
    module._loaded.cache_clear()
    assert len(pickle.dumps(BatchScorer(model[1]))) < 1000


def test_bad_batches(model, batch, tmp_path):
    with pytest.raises(ValueError, match="the batch has no column 'b', which the model was trained on"):
        BatchScorer(model[1])(batch.drop(columns="b"))
    with pytest.raises(Exception, match="does not exist"):
        BatchScorer(tmp_path / "nothing.purely")
