"""Representations of positive and unlabelled data (section 4 of the paper). Loading this package loads no torch."""

from purely.nn.plan import fit_together
from purely.representation.linear import LSDR
from purely.representation.purl import PNRL, PURL
from purely.representation.retained import InformationRetained, information_retained

__all__ = ["LSDR", "PNRL", "PURL", "InformationRetained", "fit_together", "information_retained"]
