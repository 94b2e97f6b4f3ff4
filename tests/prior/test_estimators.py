from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from purely import stack
from purely.class_prior import ClassPriors
from purely.datasets import gaussians_problem
from purely.exceptions import ClassPriorWarning
from purely.folds import deal_folds
from purely.prior import (
    BestBinPrior,
    ClassPrior,
    ElkanNotoPrior,
    KernelMeanPrior,
    LogisticCeilingPrior,
    PenL1Prior,
    RegroupingPrior,
)
from purely.prior.ratio import ratio_scores
from purely.prior.scores import ScoreTable
from tests.prior.conftest import DEFAULT, EVERY, ONE_DIMENSIONAL, make_separable, name_of

every = pytest.mark.parametrize("estimator", EVERY, ids=name_of)


def fit(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassPriorWarning)
        return clone(estimator).fit(X, y)


@every
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_finds_the_prior_of_separable_classes(estimator, prior, seed):
    X, y = make_separable(prior, seed)
    found = fit(estimator, X, y)
    # Counts of 600 positives and 1,200 unlabelled rows: a ratio read on a tenth of them has a relative error of about
    # sqrt(1 / 60 + 1 / (120 prior)), at most .25 here; methods that use all of them do much better.
    slack = 0.25 if type(found).__name__ in ("TIcEPrior", "MonotoneRatioPrior") else 0.12
    assert abs(found.class_prior_ - prior) < slack
    low, high = found.class_prior_interval_
    assert 0.0 <= low <= found.class_prior_ <= high <= 1.0


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.full) for s in (1, 2))])
@pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
def test_the_default_finds_the_prior_of_separable_classes(prior, seed):
    X, y = make_separable(prior, seed, n_p=300, n_u=600)
    assert abs(fit(ClassPrior(), X, y).class_prior_ - prior) < 0.06


@every
def test_both_scenarios_agree_on_the_unlabelled_share(estimator):
    X, y = make_separable(0.4, 5, n_p=200, n_u=400)
    one, two = (fit(clone(estimator).set_params(scenario=s), X, y) for s in ("case-control", "single-sample"))
    assert one.class_prior_ == one.unlabelled_prior_ == pytest.approx(two.unlabelled_prior_)
    priors = ClassPriors.from_unlabelled(
        two.unlabelled_prior_, n_positive=200, n_unlabelled=400, scenario="single-sample"
    )
    assert two.class_prior_ == pytest.approx(priors.population)
    assert two.label_frequency_ == pytest.approx(priors.label_frequency)
    low, high = two.class_prior_interval_
    assert low <= two.class_prior_ <= high


@every
def test_permuting_rows_changes_nothing(estimator):
    X, y = make_separable(0.4, 6, n_p=100, n_u=200)
    X = np.round(X, 1)
    shuffle = np.random.default_rng(0).permutation(len(y))
    one, two = fit(estimator, X, y), fit(estimator, X[shuffle], y[shuffle])
    assert two.class_prior_ == pytest.approx(one.class_prior_, abs=1e-6)
    np.testing.assert_allclose(two.class_prior_interval_, one.class_prior_interval_, atol=1e-5)


@pytest.mark.parametrize("estimator", EVERY + DEFAULT, ids=name_of)
@pytest.mark.parametrize("seed", range(3))
def test_two_rows_of_each_kind_give_an_answer(estimator, seed):
    X = np.random.default_rng(seed).normal(size=(4, 3))
    assert 0.0 <= fit(estimator, X, [1, 1, 0, 0]).class_prior_ <= 1.0


@every
def test_plot_draws_the_curve(estimator):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = make_separable(0.4, 7, n_p=60, n_u=120)
    ax = fit(estimator, X, y).plot()
    assert ax.lines
    assert "class prior" in ax.get_title()
    ax.figure.clear()


#: Elkan and Noto's estimators need a log density ratio, not just an order.
ORDER_ONLY = [e for e in ONE_DIMENSIONAL if not isinstance(e, ElkanNotoPrior)]


@pytest.mark.parametrize("estimator", ORDER_ONLY, ids=name_of)
def test_one_column_is_the_score(estimator):
    rng = np.random.default_rng(0)
    score_p = rng.normal(3.0, 1.0, (400, 1))
    score_u = np.concatenate([rng.normal(3.0, 1.0, (400, 1)), rng.normal(-3.0, 1.0, (400, 1))])
    X, y = stack(score_p, score_u)
    found = fit(clone(estimator).set_params(ratio=None), X, y)
    assert abs(found.class_prior_ - 0.5) < 0.2
    with pytest.raises(ValueError, match="ratio=None takes one column"):
        clone(estimator).set_params(ratio=None).fit(np.column_stack([X, X]), y)


@pytest.mark.parametrize("estimator", ORDER_ONLY, ids=name_of)
def test_many_scores_are_merged_into_cells(estimator):
    rng = np.random.default_rng(1)
    n = 60_000
    X, y = stack(
        rng.normal(2.5, 1.0, (n, 1)), np.concatenate([rng.normal(2.5, 1, (n, 1)), rng.normal(-2.5, 1, (n, 1))])
    )
    assert abs(fit(clone(estimator).set_params(ratio=None), X, y).class_prior_ - 0.5) < 0.12


def test_overlapping_classes_are_said_to_be():
    rng = np.random.default_rng(0)
    P = rng.normal(0.7, 1.0, (800, 1))
    U = np.concatenate([rng.normal(0.7, 1.0, (400, 1)), rng.normal(0.0, 1.0, (1200, 1))])
    with pytest.warns(ClassPriorWarning, match="do not determine the class prior"):
        fitted = LogisticCeilingPrior().fit(*stack(P, U))
    assert not fitted.determined_
    assert fitted.class_prior_ <= fitted.upper_bound_ < 1.0
    assert str(fitted.prior_).startswith("at most")


def test_separable_classes_do_not_warn():
    for seed in range(3):
        X, y = make_separable(0.5, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ClassPriorWarning)
            fitted = ClassPrior("linear").fit(X, y)
        assert fitted.determined_


def test_equal_samples_hit_the_upper_bound():
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(size=(300, 2)), rng.normal(size=(600, 2)))
    with pytest.warns(ClassPriorWarning, match="do not determine the class prior: it is at most 0.9"):
        fitted = ClassPrior("linear").fit(X, y)
    assert not fitted.determined_
    assert fitted.upper_bound_ > 0.9


def test_intervals_cover_and_widen_with_the_level():
    hits, trials = 0, 40
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        hidden = rng.binomial(600, 0.4)
        P = rng.normal(4.0, 1.0, (300, 1))
        U = np.concatenate([rng.normal(4.0, 1.0, (hidden, 1)), rng.normal(-1.0, 1.0, (600 - hidden, 1))])
        X, y = stack(P, U)
        prior = BestBinPrior(level=0.9, random_state=seed).fit(X, y)
        low, high = prior.class_prior_interval_
        hits += low <= 0.4 <= high
        wider = BestBinPrior(level=0.99, random_state=seed).fit(X, y).class_prior_interval_
        assert wider[0] <= low
        assert wider[1] >= high
    # 36 expected; three standard deviations below is 30.
    assert hits >= 30


def test_scores_are_out_of_fold_and_equal_rows_share_a_fold():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 2)), 1)
    positive = rng.random(400) < 0.4
    fold = deal_folds(X, positive, 5, 0).number
    for row in np.unique(X, axis=0):
        assert np.unique(fold[(row == X).all(axis=1)]).size == 1
    fitted = ratio_scores([LogisticRegression(), "linear"], X, positive, seed=0)
    assert fitted.by_model.shape == (2, 400)
    weighed = fitted.weights @ fitted.by_model
    np.testing.assert_allclose(fitted.score - weighed, (fitted.score - weighed)[0])  # but for a constant
    assert (fitted.weights >= 0).all()
    assert fitted.loss < 0.7


def test_a_model_with_a_density_ratio_is_used_through_it():
    class Known(LogisticRegression):
        def density_ratio(self, X):
            return np.exp(X[:, 0])

    X, y = make_separable(0.5, 0, n_p=100, n_u=200)
    fitted = ClassPrior(Known(), "best-bin").fit(X, y)
    ratio = np.clip(X[:, 0], np.log(1e-3), -np.log(1e-3))
    np.testing.assert_allclose(fitted.model_scores_[0], ratio)
    slope, level = fitted.model_weights_[0], (fitted.scores_ - fitted.model_weights_[0] * ratio)[0]
    np.testing.assert_allclose(fitted.scores_, slope * ratio + level)  # weighed by how well it predicts


def test_score_tables_keep_counts():
    rng = np.random.default_rng(0)
    p, u = rng.normal(size=9000), rng.normal(size=7000)
    table = ScoreTable.from_scores(p, u)
    assert table.score.size <= 4096
    assert (table.n_p, table.n_u) == (9000, 7000)
    coarse = table.coarsen(100)
    assert coarse.score.size <= 101
    assert (coarse.n_p, coarse.n_u) == (9000, 7000)
    q_p, q_u = table.tails()
    np.testing.assert_allclose(q_p[-1], 1.0)
    at = 1000
    np.testing.assert_allclose(q_p[at], np.mean(p >= table.score[at]))
    np.testing.assert_allclose(q_u[at], np.mean(u >= table.score[at]))


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (BestBinPrior(-1.0), r"confidence must be a number of at least 0; -1.0 was given."),
        (BestBinPrior(delta=0.0), r"delta must be a number above 0 and at most 1; 0.0 was given."),
        (BestBinPrior(ratio="magic"), "ratio must be 'auto', one of"),
        (BestBinPrior(ratio=[]), "ratio must name at least one model; an empty list was given."),
        (BestBinPrior(ratio=3), "ratio must be 'auto', the name of a built-in model"),
        (ClassPrior(method="magic"), "method must be one of"),
        (ClassPrior(cv=1), "cv must be an integer of at least 2; 1 was given."),
        (LogisticCeilingPrior(0.0), r"leeway must be a number above 0; 0.0 was given."),
        (RegroupingPrior(copies="some"), "copies must be one of 'auto', 'all'; 'some' was given."),
        (RegroupingPrior(fraction=0.9), r"fraction must be a number above 0 and at most 0.5; 0.9 was given."),
        (ClassPrior(level=90), "level must be a number strictly between 0 and 1"),
    ],
    ids=name_of,
)
def test_bad_parameters_are_named(estimator, sentence, separable):
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(*separable)


def test_the_wrapped_estimator_must_be_one_of_priors(separable):
    with pytest.raises(TypeError, match="estimator must be a prior estimator"):
        RegroupingPrior(LogisticRegression()).fit(*separable)


def test_regrouping_wraps_any_estimator(separable):
    fitted = fit(RegroupingPrior(BestBinPrior(ratio="linear"), ratio="linear"), *separable)
    assert abs(fitted.class_prior_ - 0.4) < 0.15


@pytest.mark.parametrize("seed", range(3))
def test_regrouping_leaves_separable_classes_alone(seed):
    X, y = make_separable(0.4, seed, n_p=300, n_u=600)
    alone, wrapped = (fit(e, X, y) for e in (KernelMeanPrior(ratio="linear"), RegroupingPrior(ratio="linear")))
    assert wrapped.n_copied_ == 0
    assert wrapped.class_prior_ == alone.class_prior_
    # Every row of the region once, as the authors do: in the limit .4 * 1.2 / 1.8 = .27.
    blind = fit(RegroupingPrior(ratio="linear", copies="all"), X, y)
    assert blind.n_copied_ == 60
    assert blind.class_prior_ < alone.class_prior_


@pytest.mark.parametrize("seed", range(3))
def test_regrouping_lowers_the_estimate_of_overlapping_classes(seed):
    # No row can only be positive: the ratio of the densities is still rising at the top.
    rng = np.random.default_rng(seed)
    P = rng.normal(1.0, 1.0, (800, 1))
    U = np.concatenate([rng.normal(1.0, 1.0, (320, 1)), rng.normal(0.0, 1.0, (1280, 1))])
    X, y = stack(P, U)
    base = BestBinPrior(ratio=None)
    alone, wrapped = fit(base, X, y), fit(RegroupingPrior(base, ratio="linear"), X, y)
    assert alone.class_prior_ > 0.25
    assert wrapped.n_copied_ > 0
    assert wrapped.class_prior_ < alone.class_prior_


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prior", [0.3, 0.7])
def test_penalised_l1_finds_widths_narrower_than_the_classes(prior, seed):
    # Classes four apart in ten columns: the median distance is about the classes', and basis functions of a third of it
    # or more mix them (.37 for .3 and more), while those of a tenth see noise alone (.1 or less).
    sample = gaussians_problem(shift=4.0, class_prior=prior, n_features=10).sample(
        n_positive=800, n_unlabelled=1600, random_state=seed
    )
    assert fit(PenL1Prior(ratio="linear"), sample.X, sample.y).class_prior_ == pytest.approx(prior, abs=0.12)


def test_method_may_be_an_instance(separable):
    by_name = fit(ClassPrior("linear", "best-bin"), *separable)
    by_instance = fit(ClassPrior("linear", BestBinPrior()), *separable)
    assert by_name.class_prior_ == by_instance.class_prior_
    km = fit(ClassPrior("linear", KernelMeanPrior("km2", ratio="linear")), *separable)
    assert abs(km.class_prior_ - 0.4) < 0.1
