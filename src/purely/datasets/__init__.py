"""Data: artificial problems with known truth, positive-unlabelled draws from labelled data, and public datasets."""

from purely.datasets._densities import Density, Gaussian, Mixture, SelectedGaussian, StudentT
from purely.datasets._download import ChecksumError, DownloadError, get_data_home
from purely.datasets._problem import PUProblem, PUSample, TrueValue
from purely.datasets._registry import DESCRIPTIONS
from purely.datasets.fetch import (
    FETCHERS,
    fetch_20newsgroups_comp_sci,
    fetch_a9a,
    fetch_fashion_mnist,
    fetch_ijcnn1,
    fetch_mnist,
    fetch_mushrooms,
    fetch_phishing,
)
from purely.datasets.labelling import Labelling
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
from purely.datasets.sampling import DrawError, PUDraw, make_pu
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
    "DESCRIPTIONS",
    "FETCHERS",
    "ChecksumError",
    "Density",
    "DownloadError",
    "DrawError",
    "Gaussian",
    "Labelling",
    "Mixture",
    "PUDraw",
    "PUProblem",
    "PUSample",
    "SelectedGaussian",
    "StudentT",
    "TrueValue",
    "fetch_20newsgroups_comp_sci",
    "fetch_a9a",
    "fetch_fashion_mnist",
    "fetch_ijcnn1",
    "fetch_mnist",
    "fetch_mushrooms",
    "fetch_phishing",
    "gaussians_problem",
    "get_data_home",
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
