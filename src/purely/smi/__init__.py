"""Squared-loss mutual information from positive and unlabelled data (section 3 of the paper)."""

from purely.smi.analytic import PNSMI, PUSMI
from purely.smi.features import FeatureRanking, rank_features
from purely.smi.inference import InformationInterval, SMIInterval, bootstrap_information, information_interval
from purely.smi.testing import IndependenceTest, independence_test

__all__ = [
    "PNSMI",
    "PUSMI",
    "FeatureRanking",
    "IndependenceTest",
    "InformationInterval",
    "SMIInterval",
    "bootstrap_information",
    "independence_test",
    "information_interval",
    "rank_features",
]
