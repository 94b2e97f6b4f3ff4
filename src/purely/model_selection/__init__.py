"""Splits, scorers and a choice between models, with positive and unlabelled rows only."""

from purely.model_selection._scorers import PUScorer, pu_scorer, pu_scorer_names
from purely.model_selection._select import ModelSelection, select_model
from purely.model_selection._split import PUStratifiedKFold, pu_train_test_split

__all__ = [
    "ModelSelection",
    "PUScorer",
    "PUStratifiedKFold",
    "pu_scorer",
    "pu_scorer_names",
    "pu_train_test_split",
    "select_model",
]
