"""Parameters that say their own bounds."""

from __future__ import annotations

import numpy as np
import pytest

from purely.base import PUEstimator, check_parameters, number, one_of, with_parameters


@with_parameters
class Base(PUEstimator):
    size: int | str = number(default="auto", low=1, high=9, integer=True, kw_only=False)
    rate: float | None = number(default=None, low=0.0, open_low=True)
    way: str = one_of("this", "that", default="this")
    free: object = None

    def fit(self, X, y):
        self._validate_fit(X, y)
        return self


@with_parameters
class Other(Base):
    size: int | str = 3
    rate: float | None = 0.5


@pytest.mark.parametrize("cls", [Base, Other])
@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"size": 0}, "size must be an integer of at least 1 and at most 9; 0 was given."),
        ({"size": "many"}, "size must be an integer of at least 1 and at most 9; 'many' was given."),
        ({"rate": 0.0}, "rate must be a number above 0; 0.0 was given."),
        ({"way": "no"}, "way must be one of 'this', 'that'; 'no' was given."),
    ],
)
def test_fit_refuses_what_is_out_of_bounds_also_where_a_subclass_has_another_default(cls, parameters, sentence):
    X, y = np.arange(8.0).reshape(4, 2), [1, 1, 0, 0]
    with pytest.raises(ValueError, match=sentence):
        cls(**parameters).fit(X, y)
    assert cls(**parameters).get_params() == {**cls().get_params(), **parameters}  # nothing is said before `fit`


@pytest.mark.parametrize("cls", [Base, Other])
def test_what_is_within_bounds_and_the_default_of_the_base_are_taken(cls):
    X, y = np.arange(8.0).reshape(4, 2), [1, 1, 0, 0]
    for parameters in ({}, {"size": "auto", "rate": None}, {"size": np.int64(2), "way": "that", "free": object()}):
        cls(**parameters).fit(X, y)


def test_a_parameter_may_be_given_by_its_place():
    assert Base(7).size == 7
    with pytest.raises(TypeError, match="positional"):
        Base(7, 0.5)


def test_checked_values_are_plain_numbers():
    checked = check_parameters(Other, {"size": np.int64(2), "rate": np.float32(0.5), "other": "kept"})
    assert checked == {"size": 2, "rate": 0.5, "other": "kept"}
    assert (type(checked["size"]), type(checked["rate"])) == (int, float)
