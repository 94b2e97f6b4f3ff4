"""Every display draws, says what it shows, and has a sentence for what it cannot show."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from purely import PUSMI, plotting
from purely.audit import Batch, Monitor, Sensitivity, draw_audit, read_audit, sensitivity
from purely.class_prior import ClassPriors
from purely.classifiers import PULeastSquaresClassifier
from purely.datasets import make_gaussians, make_paper_data
from purely.metrics import pu_precision_recall_curve
from purely.plotting import style
from purely.plotting.style import number, percent
from purely.prior import BestBinPrior, ClassPrior
from purely.smi import FeatureRanking

PREDICTIONS = [
    plotting.ScoreDisplay,
    plotting.DensityRatioDisplay,
    plotting.ThresholdDisplay,
    plotting.PUROCDisplay,
    plotting.PUPrecisionRecallDisplay,
    plotting.PUCalibrationDisplay,
]


@pytest.fixture(scope="module")
def data():
    return make_gaussians(200, 500, class_prior=0.4, n_features=2, random_state=0)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def words(display):
    """All text of a picture; drawing it first shows that it can be drawn."""
    display.figure_.canvas.draw()
    return " ".join(text.get_text() for text in display.figure_.findobj(mpl.text.Text)).replace("\n", " ")


@pytest.mark.parametrize("kind", PREDICTIONS, ids=lambda kind: kind.__name__)
class TestFromPredictions:
    def test_draws_on_new_and_given_axes(self, kind, data):
        display = kind.from_predictions(data.y, data.posterior, (0.35, 0.45))
        assert display.plot() is display
        assert display.ax_.figure is display.figure_
        ax = plt.subplots()[1]
        assert display.plot(ax).ax_ is ax
        for text in (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()):
            assert len(text) > 3

    def test_one_positive(self, kind):
        few = make_gaussians(1, 60, random_state=0)
        assert "positive" in words(kind.from_predictions(few.y, few.posterior, 0.4).plot())

    def test_constant_scores_get_a_sentence(self, kind, data):
        display = kind.from_predictions(data.y, np.full(data.y.size, 0.3), 0.4).plot()
        assert "equal (0.3)" in words(display)

    def test_missing_scores_are_left_out_with_a_sentence(self, kind, data):
        score = data.posterior.copy()
        score[::7] = np.nan
        assert "100 of 700 rows have no finite" in words(kind.from_predictions(data.y, score, 0.4).plot())

    def test_nothing_but_missing_scores(self, kind, data):
        display = kind.from_predictions(data.y, np.full(data.y.size, np.nan), 0.4).plot()
        assert "No row has a finite score." in words(display)

    def test_wrong_length(self, kind, data):
        with pytest.raises(ValueError, match="must have the same length; they have 3 and 700 rows"):
            kind.from_predictions(data.y, [0.1, 0.2, 0.3], 0.4)


@pytest.fixture(scope="module")
def fitted(data):
    return PULeastSquaresClassifier(class_prior=0.4, random_state=0).fit(data.X, data.y)


@pytest.mark.parametrize("kind", PREDICTIONS, ids=lambda kind: kind.__name__)
def test_from_estimator_says_where_rows_may_have_trained_the_model(kind, data, fitted):
    assert not hasattr(fitted, "oof_probability_")
    assert "may have trained the model" in words(kind.from_estimator(fitted, data.X, data.y).plot())


def test_a_model_without_prior_or_probabilities_gets_a_sentence(data):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    with pytest.raises(TypeError, match=r"must have class_prior_; LogisticRegression has none\. Use from_predictions"):
        plotting.PUROCDisplay.from_estimator(LogisticRegression().fit(data.X, data.y), data.X, data.y)
    with pytest.raises(TypeError, match="LinearSVC has none"):
        plotting.PUROCDisplay.from_estimator(LinearSVC().fit(data.X, data.y), data.X, data.y)


def test_the_scores_of_the_pool_are_divided_by_the_share_among_the_unlabelled():
    sample = make_gaussians(300, 300, class_prior=0.6, scenario="single-sample", random_state=0)
    share = ClassPriors.from_population(0.6, n_positive=300, n_unlabelled=300, scenario="single-sample").unlabelled
    display = plotting.ScoreDisplay.from_predictions(sample.y, sample.posterior, 0.6, scenario="single-sample").plot()
    assert display.unlabelled_prior.value == pytest.approx(share)
    pool, filled, line = (patch.get_data() for patch in display.ax_.patches)
    assert pool.values.sum() == 300
    assert line.values.sum() == pytest.approx(share * 300)
    assert np.array_equal(filled.values, line.values)


def test_the_ratio_curve_is_that_of_the_tails(data):
    display = plotting.DensityRatioDisplay.from_predictions(data.y, data.posterior)
    k = display.score.size // 2
    above = data.posterior >= display.score[k]
    assert display.tail[k] == pytest.approx(above[data.y == 0].mean() / above[data.y == 1].mean())
    assert display.tail[0] == pytest.approx(1.0)
    local = display.local[np.isfinite(display.local)]
    assert (np.diff(local) <= 1e-9).all()


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_the_threshold_table_counts_the_pool(scenario):
    sample = make_gaussians(200, 400, class_prior=0.5, scenario=scenario, random_state=0)
    cuts = [0.3, 0.5, 0.9]
    table = plotting.threshold_table(sample.y, sample.posterior, 0.5, thresholds=cuts, scenario=scenario)
    pool, known = sample.posterior[sample.y == 0], sample.posterior[sample.y == 1]
    np.testing.assert_array_equal(table.size, [(pool >= c).sum() for c in cuts])
    np.testing.assert_allclose(table.recall, [(known >= c).mean() for c in cuts])
    share = ClassPriors.from_population(0.5, n_positive=200, n_unlabelled=400, scenario=scenario).unlabelled
    curve = pu_precision_recall_curve(sample.y, sample.posterior, share, n_resamples=0)
    for k, cut in enumerate(cuts):
        assert table.precision[k] == curve.precision[np.flatnonzero(curve.thresholds >= cut)[-1]]
    assert ((table.precision_low <= table.precision) & (table.precision <= table.precision_high)).all()
    assert ((table.recall_low <= table.recall) & (table.recall <= table.recall_high)).all()
    np.testing.assert_allclose(table.found, table.precision * table.size)


def test_thresholds_of_round_lists_are_in_the_table(data):
    table = plotting.threshold_table(data.y, data.posterior, 0.4)
    assert {0.0, 0.5} <= set(table.thresholds)
    assert any(100 <= size <= 101 for size in table.size)
    assert table.thresholds[table.at(0.5)] == 0.5
    empty = plotting.threshold_table(data.y, data.posterior * 0.5, 0.4, thresholds=[0.9])
    assert (empty.size[0], empty.found[0]) == (0, 0.0)
    assert np.isnan(empty.precision[0])


def test_class_priors_of_one_and_of_several_estimators():
    sample = make_paper_data(150, 300, random_state=0)
    prior = ClassPrior().fit(sample.X, sample.y)
    display = plotting.ClassPriorDisplay.from_estimator(prior, sample.X, sample.y).plot()
    shown = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert shown[0] == "ClassPrior"
    assert "logistic ceiling" not in shown  # that is what it is
    assert len(shown) == 5
    one = BestBinPrior().fit(prior.scores_[:, None], sample.y)
    several = plotting.ClassPriorDisplay.from_estimators({"mine": prior, "best bin": one}).plot()
    assert [tick.get_text() for tick in several.ax_.get_yticklabels()] == ["mine", "best bin"]
    with pytest.raises(ValueError, match="All scores are equal"):
        plotting.read_priors(sample.y, np.zeros(sample.y.size))
    empty = plotting.ClassPriorDisplay.from_predictions(sample.y, np.zeros(sample.y.size)).plot()
    assert "All scores are equal" in words(empty)


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("coloured", [True, False])
def test_representations_of_any_width(columns, coloured):
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(90, columns)), np.arange(90) < 30
    Z[3, 0] = np.nan
    ratio = np.exp(Z[:, 0]) if coloured else None
    display = plotting.RepresentationDisplay.from_representation(Z, y, ratio).plot()
    assert "1 of 90 rows have missing values" in words(display)
    with pytest.raises(ValueError, match="must have the same length; they have 90 and 2"):
        plotting.RepresentationDisplay.from_representation(Z, [1, 0])


def test_information_by_rows_ends_with_that_of_all(data):
    display = plotting.InformationDisplay.from_data(data.X, data.y, shares=(0.5, 1.0)).plot()
    assert display.n_rows == [350, 700]
    own = PUSMI(random_state=0).fit(data.X, data.y)
    alone = plotting.InformationDisplay.from_estimator(own).plot()
    assert alone.intervals[0].information == pytest.approx(own.information_)
    assert display.intervals[-1].information == pytest.approx(own.information_, abs=0.1)
    few = plotting.InformationDisplay.from_data(data.X[-5:], [1, 0, 0, 0, 0]).plot()
    assert "at least 2 labelled positives" in words(few)


def test_names_of_columns_are_not_read_as_mathematics():
    names = ["$\\frac{broken$", "a" * 60, "line\nbreak"]
    ranking = FeatureRanking(names, np.array([0.3, 0.2, 0.0]), np.full(3, 0.1), np.zeros(3), np.full(3, 0.1), 0.4)
    display = plotting.FeatureDisplay(ranking, n_top=2).plot()
    assert "2 most informative of 3 columns" in words(display)
    assert all(len(tick.get_text()) <= 30 for tick in display.ax_.get_yticklabels())


def test_histories():
    pytest.importorskip("torch")
    from purely import PURL

    sample = make_gaussians(60, 120, n_features=2, random_state=0)
    model = PURL(2, n_ensemble=2, max_epochs=3, device="cpu", random_state=0).fit(sample.X, sample.y)
    display = plotting.HistoryDisplay.from_estimator(model).plot()
    assert display.train.shape == (3, 2)
    assert "rows held out" in words(display)
    blank = plotting.HistoryDisplay(np.full((3, 1), np.nan), np.full((3, 1), np.nan), np.array([0])).plot()
    assert "no finite value" in words(blank)
    with pytest.raises(TypeError, match="must have a history_ of its training; PUSMI has none"):
        plotting.HistoryDisplay.from_estimator(PUSMI())
    with pytest.raises(ValueError, match="what must be one of 'j', 'loss'"):
        plotting.HistoryDisplay.from_history(model.history_, what="x")


@pytest.mark.parametrize("kind", [plotting.PUROCDisplay, plotting.PUPrecisionRecallDisplay])
def test_long_curves_are_drawn_with_few_points_from_end_to_end(kind):
    rng = np.random.default_rng(0)
    y, score = np.arange(20_000) < 4000, rng.uniform(size=20_000)
    display = kind.from_predictions(y, score, 0.3).plot()
    line = display.ax_.lines[-1].get_xydata()
    assert len(line) <= 500
    whole = kind.from_predictions(y[::50], score[::50], 0.3).plot().ax_.lines[-1].get_xydata()
    np.testing.assert_allclose(line[-1], whole[-1])
    assert display.curve.thresholds.size > 19_000  # the data stay whole


def test_functions_draw_and_return_displays(data):
    assert isinstance(plotting.plot_scores(data.y, data.posterior, 0.4), plotting.ScoreDisplay)
    assert isinstance(plotting.plot_density_ratio(data.y, data.posterior), plotting.DensityRatioDisplay)
    assert isinstance(plotting.plot_class_prior(data.y, data.posterior), plotting.ClassPriorDisplay)
    assert isinstance(plotting.plot_representation(data.X, data.y), plotting.RepresentationDisplay)
    assert isinstance(plotting.plot_calibration(data.y, data.posterior, 0.4), plotting.PUCalibrationDisplay)
    assert isinstance(plotting.plot_thresholds(data.y, data.posterior, 0.4), plotting.ThresholdDisplay)
    assert isinstance(plotting.plot_roc(data.y, data.posterior, 0.4), plotting.PUROCDisplay)
    assert isinstance(plotting.plot_precision_recall(data.y, data.posterior, 0.4), plotting.PUPrecisionRecallDisplay)
    assert isinstance(plotting.plot_features(data.X, data.y, random_state=0), plotting.FeatureDisplay)
    assert isinstance(plotting.plot_information(data.X, data.y, shares=(1.0,)), plotting.InformationDisplay)


def test_colours_can_be_told_apart_by_everyone():
    """Distances in a perceptual space, as seen without each of the three kinds of cones (Machado et al., 2009)."""
    colours = [style.POSITIVE, style.UNLABELLED, style.ESTIMATE, style.SECOND]
    rgb = np.array([mpl.colors.to_rgb(colour) for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    blind = {
        "none": np.eye(3),
        "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    }
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    for matrix in blind.values():
        xyz = np.clip(linear @ np.transpose(matrix), 0, 1) @ to_xyz.T / [0.9505, 1.0, 1.089]
        f = np.cbrt(np.maximum(xyz, 1e-4))
        lab = np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])
        gaps = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(4, 1)]
        assert gaps.min() > 15.0


def test_numbers_have_the_digits_that_matter():
    assert [percent(v) for v in (0.0, 0.0004, 0.004, 0.073, 0.42, 0.905, 0.995, 1.0)] == [
        "0 %",
        "0.04 %",
        "0.4 %",
        "7.3 %",
        "42 %",
        "91 %",
        "99.5 %",
        "100 %",
    ]
    assert [number(v) for v in (0.0, 0.63512, -0.012345, 1234.5, np.nan)] == [
        "0",
        "0.635",
        "-0.0123",
        "1,234",
        "unknown",
    ]


def test_without_matplotlib_a_sentence_says_how_to_get_it(monkeypatch, data):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'purely\[plot\]'"):
        plotting.plot_scores(data.y, data.posterior)


class TestAudits:
    def result(self, labels=None):
        rng = np.random.default_rng(0)
        truth = np.arange(2000) < 200
        probability = 1.0 / (1.0 + np.exp(-rng.normal(2.0 * truth - 1.5)))
        sample = draw_audit(probability, 80, random_state=0)
        found = truth[sample.index].astype(float)
        found[:5] = np.nan if labels == "missing" else found[:5]
        return read_audit(sample, found, probability)

    def test_an_audit_is_drawn_with_its_groups_rows_and_missing_labels(self):
        result = self.result("missing")
        display = plotting.plot_audit(result, n_groups=4)
        said = words(display)
        assert f"{result.n_positive} found positive" in said
        assert "5 rows could not be told" in said
        drawn = [line for line in display.ax_.lines if len(line.get_xdata()) == 4]
        assert np.allclose(drawn[0].get_xdata(), result.calibration_curve(4).predicted)
        assert plotting.AuditDisplay.from_result(self.result()).notes == ()
        with pytest.raises(ValueError, match="n_groups"):
            plotting.plot_audit(result, n_groups=0)

    def ranges(self, scale=(0.9, 1.1)):
        return Sensitivity(1.0, 0.5, np.linspace(0.0, 1.0, 400) ** 3, np.ones(400), scale, 0.9)

    def test_ranges_are_drawn_up_to_where_the_conclusion_tips(self):
        display = plotting.plot_sensitivity(self.ranges(), share=0.5)
        tips = self.ranges().tips(share=0.5)
        assert display.tips == tips
        assert f"up to gamma {number(tips, 2)}" in words(display)
        marked = [line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() == "o"]
        assert marked == [tips]
        band = display.ax_.collections[0].get_paths()[0].vertices
        low, high = (end(band[:, 1]) for end in (np.min, np.max))
        widest = self.ranges().at(10.0).share
        assert (low, high) == pytest.approx((widest.low, widest.high))

    def test_conclusions_that_never_or_always_tip_are_said(self):
        assert "even at gamma 10" in words(plotting.plot_sensitivity(self.ranges(), share=0.9))
        assert "even if labels are random" in words(plotting.plot_sensitivity(self.ranges((0.5, 2.0)), share=0.3))
        with pytest.raises(ValueError, match="share"):
            plotting.plot_sensitivity(self.ranges(), share=1.5)

    def test_the_conclusion_is_twice_as_many_or_half_of_the_rest(self):
        few = plotting.SensitivityDisplay.from_ranges(self.ranges())
        assert few.most == pytest.approx(2.0 * few.ranges.share.value)
        many = Sensitivity(1.0, 0.5, np.full(50, 0.8), np.ones(50), (1.0, 1.0), 0.9)
        assert plotting.SensitivityDisplay.from_ranges(many).most == pytest.approx(0.9)

    def test_from_a_fitted_classifier(self, data):
        model = PULeastSquaresClassifier(class_prior=0.4).fit(data.X, data.y)
        display = plotting.SensitivityDisplay.from_estimator(model, data.X[data.y == 0], share=0.7)
        expected = sensitivity(model, 1.0, data.X[data.y == 0])
        assert display.ranges.share.high == expected.share.high
        assert display.plot().tips == expected.tips(share=0.7)

    def test_a_monitor_names_what_has_changed(self):
        rng = np.random.default_rng(0)
        monitor = Monitor(Batch("january", rng.beta(1, 9, 3000)))
        assert "has not looked at a batch yet" in words(plotting.plot_monitor(monitor))
        monitor.look(Batch("february", rng.beta(1, 9, 1000)))
        assert "Nothing has changed" in words(plotting.plot_monitor(monitor))
        for k in range(20):
            monitor.look(Batch(f"week {k}", rng.beta(3, 9, 1000)))
        display = plotting.plot_monitor(monitor)
        said = words(display)
        assert "20 of 21 batches have changed" in said
        assert "share scores" in said
        assert len(display.ax_.get_xticks()) <= 16
        changed = [line for line in display.ax_.lines if line.get_marker() == "s"]
        assert len(changed) == 20
