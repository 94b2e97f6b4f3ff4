"""Class priors: how many positives are among the unlabelled rows."""

from purely.prior.alphamax import AlphaMaxPrior
from purely.prior.auto import ClassPrior
from purely.prior.base import PriorDiagnostics, PriorEstimator
from purely.prior.dedpul import DEDPULPrior
from purely.prior.elkan_noto import ElkanNotoPrior
from purely.prior.kernel_mean import KernelMeanPrior
from purely.prior.one_dimensional import BestBinPrior, LogisticCeilingPrior, MonotoneRatioPrior, RankPruningPrior
from purely.prior.penalised_l1 import PenL1Prior
from purely.prior.regrouping import RegroupingPrior
from purely.prior.tice import TIcEPrior

__all__ = [
    "AlphaMaxPrior",
    "BestBinPrior",
    "ClassPrior",
    "DEDPULPrior",
    "ElkanNotoPrior",
    "KernelMeanPrior",
    "LogisticCeilingPrior",
    "MonotoneRatioPrior",
    "PenL1Prior",
    "PriorDiagnostics",
    "PriorEstimator",
    "RankPruningPrior",
    "RegroupingPrior",
    "TIcEPrior",
]
