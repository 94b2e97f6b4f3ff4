"""Class priors: how many positives are among the unlabelled rows."""

from purely.prior._base import ClassPriorWarning, PriorDiagnostics, PriorEstimator
from purely.prior.kernel_mean import KernelMeanPrior

__all__ = ["ClassPriorWarning", "KernelMeanPrior", "PriorDiagnostics", "PriorEstimator"]
