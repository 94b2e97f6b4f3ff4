r"""The distance from a mixture's extrapolation to the convex hull, as a curve in the extrapolation.

For :math:`\lambda \ge 1` let :math:`u(\lambda) = \lambda \mu_U + (1 - \lambda) \mu_P`. The curve

.. math:: d(\lambda)^2 = \min_{v \ge 0, \, \mathbf{1}^\top v = 1} (v - u)^\top K (v - u)

is convex, starts from :math:`d(1) = 0`, and by the envelope theorem one programme gives its slope as well,

.. math:: d'(\lambda) = \langle \mu_U - \mu_P, \, u - v^* \rangle_K \, / \, d(\lambda).

On a fixed support :math:`v^*` is affine in :math:`\lambda`, so :math:`d^2` is a parabola there. Its coefficients cost
one triangular solve and say where the slope reaches a threshold: Newton's method with the exact second derivative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from purely.prior.gaussian import FeatureProblem, Samples
from purely.prior.simplex_qp import SimplexQP
from purely.typing import Floats

#: Frank-Wolfe gap of the programmes the search passes on its way, and of the one it ends at.
_COARSE_GAP, FINE_GAP = 1e-5, 2e-8
#: The search starts at kappa = 1 - 1 / _FIRST_LAMBDA, and goes up to 1 - 1 / _LAMBDA_LIMIT.
_FIRST_LAMBDA, _LAMBDA_LIMIT = 8.0, 1024.0
#: Bisection alone needs about twenty; a curve with rounding in its slopes must not be searched for ever.
_MAX_PROGRAMMES = 60


@dataclass(frozen=True)
class CurvePoint:
    """The curve at one lambda.

    Attributes
    ----------
    extrapolation : float
        lambda.
    distance, slope, curvature : float
        :math:`d`, :math:`d'` and :math:`d''`; the last on a fixed support.
    gap : float
        Frank-Wolfe gap of the programme.
    witness, witness_slope : ndarray of shape (n,)
        The function :math:`f = (u - v)/d` that attains the distance, at the atoms, and its derivative in lambda.
    """

    extrapolation: float
    distance: float
    slope: float
    curvature: float
    gap: float
    witness: Floats
    witness_slope: Floats


@dataclass(frozen=True)
class SlopeRoot:
    """Where the slope reaches a threshold, and the bound that stopped the search if one did."""

    point: CurvePoint
    kappa: float
    bound: str | None


class DistanceCurve:
    r"""The curve :math:`d(\lambda)` of two embedded samples; every programme warms up the next."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._qp = SimplexQP(samples.rows, samples.n)
        self._difference = samples.embed_u - samples.embed_p
        self.squared_mmd = max(samples.uu - 2.0 * samples.up + samples.pp, 0.0)
        self.points: list[CurvePoint] = []

    def at(self, extrapolation: float, gap: float = FINE_GAP) -> CurvePoint:
        """Solve one programme."""
        s, t = self._samples, extrapolation
        b = t * s.embed_u + (1.0 - t) * s.embed_p
        solution = self._qp.solve(b, gap)
        v, support, r = solution.weights, solution.support, solution.residual
        norm = t * t * s.uu + 2.0 * t * (1.0 - t) * s.up + (1.0 - t) ** 2 * s.pp
        square = max(float(v @ (r[support] - b[support])) + norm, 0.0)
        cross = t * (s.uu - s.up) + (1.0 - t) * (s.up - s.pp) - float(v @ self._difference[support])
        # dv/dlambda on the support: stationary for the difference of the embeddings, summing to zero.
        move = self._qp.stationary(self._difference, total=0.0)
        bend = max(self.squared_mmd - float(move @ self._difference[support]), 0.0)
        distance = float(np.sqrt(square))
        safe = max(distance, 1e-12)
        slope = cross / safe
        turn = self._qp.product(support, move) - self._difference
        curvature, witness_slope = max(bend - slope**2, 0.0) / safe, -turn / safe + r * slope / safe**2
        self.points.append(CurvePoint(t, distance, slope, curvature, solution.gap, -r / safe, witness_slope))
        return self.points[-1]

    def find_slope(self, threshold: float, tol: float = 4e-4) -> SlopeRoot:
        """The lambda at which the slope passes `threshold`, to within `tol` of kappa = 1 - 1 / lambda.

        With SciPy's ``brentq`` in its place the estimates of seven draws of 1,500 rows took twice the time, and 67
        programmes instead of 47.
        """
        point, below, above = self._start(threshold)
        fine = False  # whether the last programme was asked for the fine gap; the jitter can keep it just above
        for left in range(_MAX_PROGRAMMES, 0, -1):
            previous = above
            if point.slope > threshold:
                above = point
            else:
                below = point
            if above is None:
                if point.extrapolation >= _LAMBDA_LIMIT:
                    return SlopeRoot(point, 1.0 - 1.0 / point.extrapolation, "upper")
                point = self.at(min(2.0 * point.extrapolation, _LAMBDA_LIMIT), _COARSE_GAP)
                continue
            guess = _next_extrapolation(point, below, above, previous, threshold)
            step = abs(1.0 / point.extrapolation - 1.0 / guess)
            low = 1.0 if below is None else below.extrapolation
            done = step <= tol or 1.0 / low - 1.0 / above.extrapolation <= tol or left == 1
            if done and (fine or point.gap <= FINE_GAP):
                break
            fine = done or step <= 20.0 * tol
            point = self.at(point.extrapolation if done else guess, FINE_GAP if fine else _COARSE_GAP)
        return SlopeRoot(point, 1.0 - 1.0 / guess, "lower" if guess - 1.0 <= 2.0 * tol else None)

    def _start(self, threshold: float) -> tuple[CurvePoint, CurvePoint | None, CurvePoint | None]:
        """The known points next to the root; a search for another threshold has left some."""
        above = min((p for p in self.points if p.slope > threshold), key=lambda p: p.extrapolation, default=None)
        below = max((p for p in self.points if p.slope <= threshold), key=lambda p: p.extrapolation, default=None)
        if above is not None:
            return above, below, above
        first = _FIRST_LAMBDA if below is None else max(_FIRST_LAMBDA, 2.0 * below.extrapolation)
        return self.at(first, _COARSE_GAP), below, None

    def bend(self, root: SlopeRoot) -> float:
        """Second derivative at a root: a chord of slopes, since on a fixed support it comes out twice too large."""
        away = [p for p in self.points if abs(1.0 / p.extrapolation - (1.0 - root.kappa)) > 3e-3]
        left = max((p for p in away if p.slope < root.point.slope), key=lambda p: p.extrapolation, default=root.point)
        right = min((p for p in away if p.slope > root.point.slope), key=lambda p: p.extrapolation, default=root.point)
        if left is right or right.extrapolation <= left.extrapolation:
            return 0.5 * root.point.curvature
        return (right.slope - left.slope) / (right.extrapolation - left.extrapolation)


def _next_extrapolation(
    point: CurvePoint, below: CurvePoint | None, above: CurvePoint, previous: CurvePoint | None, threshold: float
) -> float:
    """Next lambda of the search, strictly inside the bracket.

    The distance is a minimum over supports, so it lies below the parabola of any one of them and Newton's step on a
    fixed support falls short from above, by about half; the chord through the last two points does not, but may
    overshoot to where supports are large. Hence the chord, up to twice Newton's step near the root and less far from
    it. With the root between two points: twice Newton's step from the nearer one if it is short, else their chord,
    else the middle in kappa.
    """
    low = 1.0 if below is None else below.extrapolation
    high = above.extrapolation
    if below is None:
        step = high - parabola_root(point, threshold)
        if not np.isfinite(step) or step <= 0.0:
            step = 0.25 * (high - 1.0)
        if previous is not None and previous is not above:
            longest = 1.0 + min(1.0, 1.5 * threshold / above.slope)
            chord = high - _chord(previous, above, threshold)
            step = float(np.clip(chord, step, longest * step)) if np.isfinite(chord) else longest * step
        return high - min(step, 0.6 * (high - 1.0))
    middle = 2.0 / (1.0 / low + 1.0 / high)
    near = below if threshold - below.slope < above.slope - threshold else above
    step = 2.0 * (parabola_root(near, threshold) - near.extrapolation)
    guess = near.extrapolation + step
    if low < guess < high and abs(step) < 0.25 * (high - low):
        return float(guess)
    chord = _chord(below, above, threshold)
    margin = 0.02 * (high - low)
    return float(chord) if low + margin < chord < high - margin else middle


def _chord(one: CurvePoint, other: CurvePoint, threshold: float) -> float:
    rise = other.slope - one.slope
    if rise == 0.0:
        return float("nan")
    return one.extrapolation + (threshold - one.slope) * (other.extrapolation - one.extrapolation) / rise


def parabola_root(point: CurvePoint, threshold: float) -> float:
    r"""Where the slope of :math:`\sqrt{q_0 + q_1 t + q_2 t^2}` equals the threshold; NaN where it never does.

    With :math:`q_0 = d^2`, :math:`q_1 = 2 d d'`, :math:`q_2 = d'^2 + d\,d''` the equation
    :math:`(q_1 + 2 q_2 t)^2 = 4 \nu^2 (q_0 + q_1 t + q_2 t^2)` is a quadratic in the step.
    """
    q0 = point.distance**2
    q1 = 2.0 * point.distance * point.slope
    q2 = point.slope**2 + point.distance * point.curvature
    excess = q2 - threshold**2
    if excess <= 0.0 or q2 <= 0.0:
        return float("nan")
    # (q1 + 2 q2 t)^2 - nu^2 / q2 * ((q1 + 2 q2 t)^2 + 4 q0 q2 - q1^2) = 0 in s = q1 + 2 q2 t > 0
    remainder = max(4.0 * q0 * q2 - q1**2, 0.0)
    s = threshold * np.sqrt(remainder / excess)
    return float(point.extrapolation + (s - q1) / (2.0 * q2))


def hull_distance(samples: Samples, extrapolation: float, tol: float, max_products: int = 600) -> float:
    r"""The distance :math:`d(\lambda)` near :math:`\lambda = 1`, where nearly every atom is in the support.

    Conjugate gradients on the free weights of :math:`\min_{v \ge 0} (v - u)^\top (K + \rho \mathbf{1}\mathbf{1}^\top)
    (v - u)`: the penalty holds the sum of the weights at one (the multiplier of that constraint is of the order of
    :math:`d^2`), and is one eigenvalue that conjugate gradients take in a single step. The Frank-Wolfe gap bounds
    :math:`d^2` from below; the method stops when :math:`d` is known to within `tol`.
    """
    if isinstance(samples, FeatureProblem):
        return DistanceCurve(samples).at(extrapolation).distance
    u = extrapolation * samples.weight_u + (1.0 - extrapolation) * samples.weight_p
    kernel = samples.matvec()
    rho, used = 4.0, 0

    def product(z: Floats) -> Floats:
        nonlocal used
        used += 1
        return np.asarray(kernel(z)) + rho * float(z.sum())

    v = samples.weight_u.copy()  # feasible, at 0.05 times the distance of the means
    r = product(v - u)
    square = float((v - u) @ r)
    while used < max_products:
        mass = max(float(v.sum()), 1e-12)
        gap = 2.0 * (float(v @ r) / mass - float(r.min()))
        distance = np.sqrt(max(square, 0.0))
        if distance - np.sqrt(max(square - gap, 0.0)) <= tol:
            break
        free = (v > 0.0) | (r < 0.0)
        on_free = LinearOperator((samples.n, samples.n), lambda z, free=free: np.where(free, product(z), 0.0))
        direction, _ = cg(on_free, np.where(free, -r, 0.0), rtol=1e-2, maxiter=min(12, max_products - used))
        length, improved = 1.0, False
        while used < max_products and length > 1e-4 and not improved:
            trial = np.maximum(v + length * direction, 0.0)
            r_trial = product(trial - u)
            value = float((trial - u) @ r_trial)
            improved = value < square
            if improved:
                v, r, square = trial, r_trial, value
            length *= 0.4
        if not improved or distance - np.sqrt(max(square, 0.0)) <= 0.02 * tol:
            break
    return float(np.sqrt(max(square, 0.0)))
