"""Representations of positive and unlabelled data (section 4 of the paper). Loading this package loads no torch."""

from purely.nn.plan import fit_together
from purely.representation.linear import LSDR
from purely.representation.pnrl import PNRL
from purely.representation.purl import PURL
from purely.representation.retained import InformationRetained, information_retained

__all__ = ["LSDR", "PNRL", "PURL", "InformationRetained", "fit_together", "information_retained"]
