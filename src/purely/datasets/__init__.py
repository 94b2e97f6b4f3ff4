"""Data: artificial problems with known truth, positive-unlabelled draws from labelled data, and public datasets."""

from purely.datasets._densities import Density, Gaussian, Mixture, StudentT
from purely.datasets._problem import PUProblem, PUSample, TrueValue
from purely.datasets.problems import (
    gaussians_problem,
    heavy_tailed_problem,
    high_dimensional_problem,
    imbalanced_problem,
    independent_problem,
    label_biased_problem,
    overlapping_problem,
    paper_problem,
)
from purely.datasets.sampling import PUDraw, make_pu
from purely.datasets.synthetic import (
    make_gaussians,
    make_heavy_tailed,
    make_high_dimensional,
    make_imbalanced,
    make_independent,
    make_label_biased,
    make_overlapping,
    make_paper_data,
)

__all__ = [
    "Density",
    "Gaussian",
    "Mixture",
    "PUDraw",
    "PUProblem",
    "PUSample",
    "StudentT",
    "TrueValue",
    "gaussians_problem",
    "heavy_tailed_problem",
    "high_dimensional_problem",
    "imbalanced_problem",
    "independent_problem",
    "label_biased_problem",
    "make_gaussians",
    "make_heavy_tailed",
    "make_high_dimensional",
    "make_imbalanced",
    "make_independent",
    "make_label_biased",
    "make_overlapping",
    "make_paper_data",
    "make_pu",
    "overlapping_problem",
    "paper_problem",
]
