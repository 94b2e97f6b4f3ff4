from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from purely.datasets import make_paper_data
from purely.exceptions import DivergedWarning, OverfittingWarning
from purely.representation import PNRL, PURL, fit_together
from purely.smi.objective import pu_objective

FAST = {"max_epochs": 30, "device": "cpu", "random_state": 0}


def two_sided(seed=0, n_p=150, n_u=300, d=2):
    """Positives around 2 on the first axis; half of the unlabelled rows are negatives around -2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_p + n_u, d))
    truth = np.r_[np.ones(n_p, bool), rng.random(n_u) < 0.5]
    X[:, 0] += np.where(truth, 2.0, -2.0)
    return X, np.repeat([1, 0], [n_p, n_u]), truth


def fit_quietly(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverfittingWarning)
        return model.fit(*arguments)


@pytest.mark.parametrize("loss", ["logistic", "squared", "squared-nn"])
def test_the_ratio_and_the_information_are_about_right(loss):
    X, y, truth = two_sided()
    model = fit_quietly(PURL(n_components=2, hidden=(8,), loss=loss, learning_rate=0.01, **FAST), X, y)
    ratio = model.density_ratio(X)
    assert 1.4 < ratio[truth].mean() < 2.6  # the truth is 2 at nearly every positive and 0 at negatives
    assert abs(ratio[~truth].mean()) < 0.35
    assert 0.25 < model.information_ < 0.65  # 0.5 less the overlap
    assert model.score(X, y) == pytest.approx(-pu_objective(ratio[y == 1], ratio[y == 0]))


@pytest.mark.parametrize("seed", range(3))
def test_cross_fitting_is_honest_and_leaves_the_model_alone(seed):
    X, y, truth = two_sided(seed, d=10)
    settings = {"n_components": 2, "hidden": (8,), "n_ensemble": 2, "learning_rate": 0.01, **FAST, "random_state": seed}
    plain = fit_quietly(PURL(**settings), X, y)
    crossed = fit_quietly(PURL(cv=3, **settings), X, y)
    np.testing.assert_allclose(crossed.density_ratio(X), plain.density_ratio(X), rtol=1e-3, atol=1e-4)
    assert crossed.oof_density_ratio_.shape == y.shape
    w = crossed.oof_density_ratio_
    assert crossed.oof_information_ == crossed.information_ == pytest.approx(-pu_objective(w[y == 1], w[y == 0]) - 0.5)
    assert not hasattr(plain, "oof_density_ratio_")
    # Labelled and hidden positives come from one distribution: out of fold the ratio cannot tell them apart. The
    # standard error of the difference of the two means is about 0.1.
    hidden = truth & (y == 0)
    assert abs(w[y == 1].mean() - w[hidden].mean()) < 0.4


def test_pure_noise_has_no_information_out_of_fold():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 20)), np.repeat([1, 0], [100, 200])
        model = fit_quietly(PURL(cv=3, n_ensemble=1, **{**FAST, "random_state": seed}), X, y)
        assert model.oof_information_ < 0.15


def test_fit_together_equals_one_by_one():
    data = [two_sided(seed)[:2] for seed in range(3)]
    data.append((data[0][0][3:], data[0][1][3:]))  # of another size, which makes a stack of its own
    settings = {"n_components": 2, "hidden": (5,), "n_ensemble": 2, "cv": 2, "max_epochs": 5, "device": "cpu"}
    together = [PURL(random_state=i, **settings) for i in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverfittingWarning)
        fit_together(together, data)
    for i, (X, y) in enumerate(data):
        alone = fit_quietly(PURL(random_state=i, **settings), X, y)
        np.testing.assert_allclose(together[i].oof_density_ratio_, alone.oof_density_ratio_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(together[i].transform(X), alone.transform(X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_linear_purl_finds_the_axis(seed):
    sample = make_paper_data(400, 1000, random_state=seed)
    model = PURL(n_components=1, hidden=(), device="cpu", random_state=seed, learning_rate=0.005, n_starts=5)
    fit_quietly(model, sample.X, sample.y)
    assert np.linalg.norm(model.components_[0]) == pytest.approx(1.0)
    assert np.degrees(np.arccos(abs(model.components_[0, 0]))) < 12.0
    np.testing.assert_allclose(model.transform(sample.X), sample.X @ model.components_.T)


def test_sparse_equals_dense():
    X, y, _ = two_sided(d=6)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    settings = {"n_components": 2, "hidden": (5,), "standardize": False, **FAST, "max_epochs": 5}
    dense, sparse = fit_quietly(PURL(**settings), X, y), fit_quietly(PURL(**settings), sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.density_ratio(sp.csr_matrix(X)), dense.density_ratio(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_memory_mapped_equals_array(tmp_path, dtype):
    X, y, _ = two_sided()
    X = (10 * X).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    settings = {"n_components": 2, "hidden": (5,), **FAST, "max_epochs": 5}
    a, b = fit_quietly(PURL(**settings), X, y), fit_quietly(PURL(**settings), mapped, y)
    np.testing.assert_allclose(b.density_ratio(mapped), a.density_ratio(X), rtol=1e-4, atol=1e-5)


def test_a_stream_of_batches():
    X, y, truth = two_sided()
    P, U = X[y == 1], X[y == 0]

    def batches(epoch):
        rng = np.random.default_rng(epoch)
        for _ in range(8):
            yield P[rng.choice(len(P), 30)], U[rng.choice(len(U), 60)]

    held, y_held, _ = two_sided(1)
    model = PURL(n_components=2, hidden=(6,), n_ensemble=2, learning_rate=0.01, **FAST).fit_batches(
        batches, held, y_held
    )
    assert model.information_ > 0.2
    assert model.density_ratio(X)[truth].mean() > 1.3
    with pytest.raises(ValueError, match="fit_batches needs cv=None"):
        PURL(cv=2, **FAST).fit_batches(batches, held, y_held)


def test_a_small_convolutional_encoder():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [80, 160])
    images = rng.normal(size=(240, 6, 6))
    bright = (y == 1) | (rng.random(240) < 0.5)
    images[bright, 2:4, 2:4] += 2.0
    encoder = nn.Sequential(
        nn.Unflatten(1, (1, 6, 6)), nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
    )
    settings = {**FAST, "max_epochs": 12, "learning_rate": 0.005}
    model = fit_quietly(PURL(n_components=3, encoder=encoder, n_ensemble=2, **settings), images.reshape(240, -1), y)
    assert model.transform(images.reshape(240, -1)).shape == (240, 3)
    assert model.information_ > 0.1
    again = fit_quietly(PURL(n_components=3, encoder=encoder, n_ensemble=2, **settings), images.reshape(240, -1), y)
    np.testing.assert_array_equal(
        again.density_ratio(images.reshape(240, -1)), model.density_ratio(images.reshape(240, -1))
    )
    with pytest.raises(TypeError, match=r"encoder must be None or a torch.nn.Module; str was given"):
        PURL(encoder="cnn").fit(images.reshape(240, -1), y)


def test_single_sample_ratio_refers_to_the_population():
    X, y, _ = two_sided()
    settings = {"n_components": 2, "hidden": (5,), "n_ensemble": 1, **FAST}
    two, one = (fit_quietly(PURL(scenario=s, **settings), X, y) for s in ("case-control", "single-sample"))
    w, share = two.density_ratio(X), (y == 1).mean()
    np.testing.assert_allclose(one.density_ratio(X), w / (share * w + 1 - share), rtol=1e-6)
    ratio = one.density_ratio(X)
    assert one.score(X, y) == pytest.approx(-pu_objective(ratio[y == 1], ratio))


@pytest.mark.parametrize(
    ("preset", "widths"), [("paper", [(8, 60), (60, 20), (20, 1)]), ("paper-text", [(8, 30), (30, 10), (10, 1)])]
)
def test_presets_are_the_papers(preset, widths):
    X, y, _ = two_sided(d=8)
    model = PURL(preset=preset, n_components=3, optimizer="adam", **{**FAST, "max_epochs": 2})
    recipe = model.prepare_fit(X, y).recipe
    settings = recipe.networks.settings
    assert (settings.optimizer, settings.learning_rate) == ("sgd", 0.001)
    assert (settings.weight_decay, settings.gradient_noise) == (0.0005, 0.01)
    assert (settings.update, settings.dropout, recipe.n_ensemble) == ("alternating", 0.0, 1)
    model.fit(X, y)
    network = model.networks_[0]
    assert [layer[0].shape for layer in network.encoder + network.head] == widths
    assert len(model.get_feature_names_out()) == widths[1][1]
    assert model.get_params()["n_components"] == 3  # parameters stay as they were set


def test_overfitting_is_noticed():
    X, y, _ = two_sided(d=200)
    X[:, 0] *= 0.5
    with pytest.warns(OverfittingWarning, match=r"overfitting: .* use cv=5 and oof_density_ratio_"):
        model = PURL(loss="squared", dropout=0, learning_rate=0.005, **FAST).fit(X, y)
    assert model.overfitting_


def test_divergence_is_noticed():
    X, y, _ = two_sided()
    with pytest.warns(DivergedWarning, match="Lower learning_rate"):
        fit_quietly(
            PURL(
                loss="squared",
                optimizer="sgd",
                hidden=(),
                head_hidden=(),
                learning_rate=1e30,
                **{**FAST, "max_epochs": 3},
            ),
            1e3 * X,
            y,
        )


def test_checkpoint_resumes_to_the_same(tmp_path):
    X, y, _ = two_sided()
    settings = {"n_components": 2, "hidden": (5,), "n_ensemble": 2, **FAST}
    whole = fit_quietly(PURL(**settings), X, y)
    file = tmp_path / "purl.pt"
    fit_quietly(PURL(**{**settings, "max_epochs": 20}, checkpoint=file), X, y)
    resumed = fit_quietly(PURL(checkpoint=file, **settings), X, y)
    np.testing.assert_array_equal(resumed.density_ratio(X), whole.density_ratio(X))
    with pytest.raises(ValueError, match="belongs to other data"):
        PURL(checkpoint=file, **settings).fit(X + 1.0, y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1; 0 was given."),
        (
            {"hidden": 60},
            r"hidden must be a sequence of integers of at least 1, such as \(60,\) or \(\); 60 was given.",
        ),
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'squared', 'squared-nn'; 'hinge' was given."),
        ({"learning_rate": 0}, "learning_rate must be a number above 0; 0 was given."),
        ({"dropout": 1.5}, "dropout must be a number of at least 0 and at most 0.95; 1.5 was given."),
        ({"cv": 1}, "cv must be an integer of at least 2; 1 was given."),
        ({"preset": "ours"}, "preset must be one of None, 'paper', 'paper-text'; 'ours' was given."),
        ({"n_starts": "many"}, "n_starts must be an integer of at least 1; 'many' was given."),
        ({"device": "tpu"}, "device must be 'auto', 'cpu' or 'cuda'; 'tpu' was given."),
        ({"cv": 150}, "cv=2 leaves fewer than 2"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(parameters, sentence):
    X, y, _ = two_sided(n_p=20, n_u=40)
    if parameters == {"cv": 150}:
        X, y = X[18:24], y[18:24]
        parameters = {"cv": 2}
    with pytest.raises(ValueError, match=sentence):
        PURL(**{**FAST, **parameters}).fit(X, y)


def test_pnrl_measures_the_supervised_information():
    X, _, truth = two_sided(n_p=200, n_u=400)
    model = PNRL(n_components=2, hidden=(8,), learning_rate=0.005, **FAST).fit(X, truth)
    assert model.class_prior_ == truth.mean()
    assert 0.3 < model.information_ < 0.52  # at most one half with two classes
    assert model.score(X, truth) > 0.8
