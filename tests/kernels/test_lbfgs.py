"""Batched L-BFGS steps against the textbook's, one evaluation at a time, also interpreted."""

import numpy as np
import pytest

from colabel._kernels import lbfgs

MEMORY = 3
# No limit but that of rounding.
OPEN = lbfgs.Limits(0.0, 0.0, 1e-14, 0.0, 1e300, 10**9)


class Textbook:
    """Nocedal and Wright (2006), algorithm 7.4, with explicit matrices: no two-loop recursion."""

    def __init__(self, scale):
        self.scale, self.pairs = scale, []

    def remember(self, s, y):
        self.pairs = [*self.pairs, (s, y)][-MEMORY:]

    def direction(self, gradient):
        H = np.diag(self.scale)
        if self.pairs:
            s, y = self.pairs[-1]
            H = H * (s @ y) / (y @ H @ y)
        for s, y in self.pairs:
            V = np.eye(s.size) - np.outer(y, s) / (s @ y)
            H = V.T @ H @ V + np.outer(s, s) / (s @ y)
        return -H @ gradient


def state(start, scale, price=None):
    """Return what ``advance`` is given first: memory, price, active problems and trial points."""
    memory = lbfgs.empty_memory(*start.shape, MEMORY, with_norm=price is not None)
    memory.vectors[:] = np.nan
    memory.vectors[:, lbfgs.SCALE] = scale
    price = None if price is None else np.broadcast_to(price, start.shape).astype(float)
    return memory, price, np.arange(len(start)), start.copy()


def quadratics(rng, n, d):
    """Hessians (n, d, d) and linear terms of convex quadratics."""
    A = rng.normal(size=(n, d, d))
    return A @ A.transpose(0, 2, 1) + 0.1 * np.eye(d), rng.normal(size=(n, d))


def evaluate(H, c, points, problems):
    bent = np.einsum("aij,aj->ai", H[problems], points)
    value = 0.5 * np.einsum("ai,ai->a", points, bent) - np.einsum("ai,ai->a", c[problems], points)
    return value, bent - c[problems]


@pytest.mark.parametrize("seed", range(20))
def test_directions_are_those_of_the_textbook(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 12))
    H, c = quadratics(rng, 1, d)
    scale = rng.random(d) + 0.5
    memory, price, active, trial = state(rng.normal(size=(1, d)), scale)
    book, before = Textbook(scale), None
    for _ in range(3 * MEMORY):
        value, gradient = evaluate(H, c, trial, active)
        steps = memory.counts[0, lbfgs.STEPS]
        here = trial[0].copy()
        lbfgs.advance(memory, price, active, trial, value, gradient, OPEN)
        if np.abs(gradient).max() < 1e-5:
            break
        if memory.counts[0, lbfgs.STEPS] > steps:
            if before is not None:
                book.remember(here - before[0], gradient[0] - before[1])
            before = here, gradient[0].copy()
        expected = book.direction(memory.vectors[0, lbfgs.GRADIENT])
        found = memory.vectors[0, lbfgs.DIRECTION]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
        np.testing.assert_allclose(
            trial[0],
            memory.vectors[0, lbfgs.POINT] + memory.numbers[0, lbfgs.STEP] * found,
            rtol=1e-14,
        )
    assert memory.counts[0, lbfgs.STEPS] >= min(d, 3) - 1


def test_a_rise_shortens_the_step_to_the_parabolas_minimum():
    # f(x) = x^2 from x = 1 with a scale of 3: the first trial is 1 - 3 * 2 = -5.
    memory, price, active, trial = state(np.array([[1.0]]), 3.0)
    args = (memory, price, active, trial)
    assert lbfgs.advance(*args, np.array([1.0]), np.array([[2.0]]), OPEN) == 1
    assert trial[0, 0] == -5.0
    assert lbfgs.advance(*args, np.array([25.0]), np.array([[-10.0]]), OPEN) == 1
    assert trial[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert lbfgs.advance(*args, np.array([0.0]), np.array([[0.0]]), OPEN) == 0
    assert memory.vectors[0, lbfgs.POINT, 0] == pytest.approx(0.0, abs=1e-12)
    assert memory.counts[0, lbfgs.STATUS] == lbfgs.CONVERGED


def test_cuts_stay_within_a_tenth_and_a_half():
    for value, share in ((1e30, 0.1), (1.0 + 1e-9, 0.5)):
        memory, price, active, trial = state(np.array([[1.0]]), 1.0)
        args = (memory, price, active, trial)
        lbfgs.advance(*args, np.array([1.0]), np.array([[2.0]]), OPEN)
        lbfgs.advance(*args, np.array([value]), np.array([[-2.0]]), OPEN)
        assert memory.numbers[0, lbfgs.STEP] == pytest.approx(share)


def test_values_that_never_fall_end_the_search():
    """Also not-a-number: no loop without end."""
    for value in (np.inf, np.nan, 2.0):
        memory, price, active, trial = state(np.ones((1, 2)), 1.0)
        args = (memory, price, active, trial)
        lbfgs.advance(*args, np.array([1.0]), np.ones((1, 2)), OPEN)
        calls = 0
        while lbfgs.advance(*args, np.array([value]), np.ones((1, 2)), OPEN):
            calls += 1
            assert calls < 100
        assert memory.counts[0, lbfgs.STATUS] == lbfgs.STALLED
        np.testing.assert_array_equal(memory.vectors[0, lbfgs.POINT], 1.0)


def test_steps_without_a_decrease_end_the_search():
    """Where rounding makes a plateau of the function."""
    memory, price, active, trial = state(np.ones((1, 2)), 1.0)
    args = (memory, price, active, trial)
    limits = OPEN._replace(rounding=1e-3)
    calls = 0
    while lbfgs.advance(*args, np.array([1.0]), np.full((1, 2), 1e-5), limits):
        calls += 1
        assert calls < 100
    assert memory.counts[0, lbfgs.STATUS] == lbfgs.STALLED
    assert memory.counts[0, lbfgs.STEPS] == lbfgs.MOST_IDLE


def test_a_failed_search_first_forgets_its_pairs():
    memory, price, active, trial = state(np.array([[3.0, 1.0]]), 0.1)
    args = (memory, price, active, trial)
    H, c = np.array([[[2.0, 0.0], [0.0, 1.0]]]), np.zeros((1, 2))
    for _ in range(3):
        lbfgs.advance(*args, *evaluate(H, c, trial, active), OPEN)
    assert memory.counts[0, lbfgs.PAIRS] > 0
    while memory.counts[0, lbfgs.PAIRS] > 0:
        assert lbfgs.advance(*args, np.array([1e9]), np.ones((1, 2)), OPEN) == 1
    expected = -0.1 * memory.vectors[0, lbfgs.GRADIENT]
    np.testing.assert_allclose(memory.vectors[0, lbfgs.DIRECTION], expected)


def test_problems_do_not_see_one_another():
    """Each problem of a batch goes as it would alone, to the last bit, however others finish."""
    rng = np.random.default_rng(0)
    H, c = quadratics(rng, 6, 5)
    H *= 10.0 ** np.arange(-3, 3)[:, None, None]
    start = rng.normal(size=(6, 5))
    limits = lbfgs.Limits(0.0, 1e-9, 1e-14, 0.0, 1e300, 40)

    def run(problems):
        memory, price, active, trial = state(start[problems], 1.0)
        while active.size:
            value, gradient = evaluate(H, c, trial, problems[active])
            left = lbfgs.advance(memory, price, active, trial, value, gradient, limits)
            active, trial = active[:left], trial[:left]
        return memory.vectors[:, lbfgs.POINT], memory.counts

    together, counts = run(np.arange(6))
    assert len(np.unique(counts[:, lbfgs.STEPS])) > 2
    for p in range(6):
        alone, count = run(np.array([p]))
        np.testing.assert_array_equal(alone[0], together[p])
        np.testing.assert_array_equal(count[0], counts[p])


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_steps_are_limited(limit):
    rng = np.random.default_rng(0)
    H, c = quadratics(rng, 2, 8)
    memory, price, active, trial = state(rng.normal(size=(2, 8)), 0.01)
    limits = lbfgs.Limits(0.0, 1e-9, 1e-14, 0.0, 1e300, limit)
    while active.size:
        value, gradient = evaluate(H, c, trial, active)
        left = lbfgs.advance(memory, price, active, trial, value, gradient, limits)
        active, trial = active[:left], trial[:left]
    np.testing.assert_array_equal(memory.counts[:, lbfgs.STEPS], limit)
    np.testing.assert_array_equal(memory.counts[:, lbfgs.STATUS], lbfgs.RUNNING)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 23])
def test_dot_products_of_every_length(size):
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=size), rng.normal(size=size)
    if hasattr(lbfgs.dot, "py_func"):
        memory, price, active, trial = state(a[None], 1.0)
        lbfgs.advance(memory, price, active, trial, np.ones(1), b[None], OPEN)
        found = -memory.numbers[0, lbfgs.SLOPE]
        assert found == pytest.approx(b @ b, rel=1e-14)
    else:
        assert lbfgs.dot(a, b) == pytest.approx(a @ b, rel=1e-14)


def test_orthant_steps_stop_at_zero_and_leave_it_only_downhill():
    # 1/2 |x - c|^2 + |x|_1 from (0.5, 0, 0): the minimum is c shrunk by one.
    c = np.array([[-3.0, 2.5, 0.5]])
    memory, price, active, trial = state(np.array([[0.5, 0.0, 0.0]]), 1.0, price=1.0)
    args = (memory, price, active, trial)
    H = np.eye(3)[None]
    left = lbfgs.advance(*args, *evaluate(H, c, trial, active), OPEN)
    # The first crosses zero, the second leaves it, the third is held: |0.5| < 1.
    np.testing.assert_allclose(trial[0], [0.0, 1.5, 0.0])
    while left:
        left = lbfgs.advance(*args, *evaluate(H, c, trial, active), OPEN)
    np.testing.assert_allclose(memory.vectors[0, lbfgs.POINT], [-2.0, 1.5, 0.0], atol=1e-12)
    assert memory.vectors[0, lbfgs.POINT, 2] == 0.0


def test_orthant_steps_without_a_norm_are_plain_ones():
    rng = np.random.default_rng(3)
    H, c = quadratics(rng, 3, 6)
    start = rng.normal(size=(3, 6))
    start[:, 0] = 0.0
    plain, bent = state(start, 1.0), state(start, 1.0, price=0.0)
    for _ in range(8):
        lbfgs.advance(*plain, *evaluate(H, c, plain[3], plain[2]), OPEN)
        lbfgs.advance(*bent, *evaluate(H, c, bent[3], bent[2]), OPEN)
        np.testing.assert_allclose(bent[3], plain[3], rtol=1e-9)


def test_orthant_search_ends_where_values_never_fall():
    memory, price, active, trial = state(np.ones((1, 2)), 1.0, price=0.1)
    args = (memory, price, active, trial)
    lbfgs.advance(*args, np.array([1.0]), np.ones((1, 2)), OPEN)
    calls = 0
    while lbfgs.advance(*args, np.array([np.nan]), np.ones((1, 2)), OPEN):
        calls += 1
        assert calls < 100
    assert memory.counts[0, lbfgs.STATUS] == lbfgs.STALLED


def run_orthant(H, c, price, limits):
    n, d = c.shape
    memory, price, active, trial = state(np.zeros((n, d)), 1.0, price)
    memory.vectors[:, lbfgs.SCALE] = 1.0 / np.einsum("nii->ni", H)
    while active.size:
        args = (memory, price, active, trial)
        left = lbfgs.advance(*args, *evaluate(H, c, trial, active), limits)
        active, trial = active[:left], trial[:left]
    return memory.vectors[:, lbfgs.POINT], memory.counts


@pytest.mark.parametrize("seed", range(15))
def test_orthant_steps_end_where_no_slope_is_left(seed):
    rng = np.random.default_rng(seed)
    H, c = quadratics(rng, 4, int(rng.integers(2, 9)))
    price = rng.choice([0.0, 0.5, 2.0], size=c.shape[1])
    # The Hessians have no eigenvalue below 0.1.
    found, counts = run_orthant(H, c, price, lbfgs.Limits(1e-12, 0.0, 1e-15, 1.0, 10.0, 500))
    np.testing.assert_array_equal(counts[:, lbfgs.STATUS] != lbfgs.RUNNING, True)
    _, gradient = evaluate(H, c, found, np.arange(4))
    held = np.maximum(np.abs(gradient) - price, 0.0)
    slope = np.where(found == 0.0, held, gradient + price * np.sign(found))
    assert np.abs(slope).max() < 1e-5


def test_an_orthant_search_that_fails_first_forgets_its_pairs():
    memory, price, active, trial = state(np.array([[3.0, 1.0]]), 0.1, price=0.5)
    args = (memory, price, active, trial)
    H, c = np.array([[[2.0, 0.3], [0.3, 1.0]]]), np.array([[3.0, 2.0]])
    for _ in range(3):
        lbfgs.advance(*args, *evaluate(H, c, trial, active), OPEN)
    assert memory.counts[0, lbfgs.PAIRS] > 0
    while memory.counts[0, lbfgs.PAIRS] > 0:
        assert lbfgs.advance(*args, np.array([1e9]), np.ones((1, 2)), OPEN) == 1
    slope = memory.vectors[0, lbfgs.GRADIENT] + 0.5
    np.testing.assert_allclose(memory.vectors[0, lbfgs.DIRECTION], -0.1 * slope)


def test_a_direction_spoilt_by_rounding_gives_way_to_steepest_descent():
    """A pair of negative curvature, which only rounding could store, turns the direction uphill."""
    for norm in (None, 0.0):
        memory, price, active, trial = state(np.array([[1.0]]), 2.0, price=norm)
        args = (memory, price, active, trial)
        lbfgs.advance(*args, np.array([9.0]), np.array([[1.0]]), OPEN)
        memory.counts[0, lbfgs.PAIRS] = 1
        memory.numbers[0, lbfgs.RHO] = -1.0
        memory.vectors[0, lbfgs.HEAD], memory.vectors[0, lbfgs.HEAD + MEMORY] = 1.0, -1.0
        # The new pair has no curvature and is not stored.
        assert lbfgs.advance(*args, np.array([1.0]), np.array([[1.0]]), OPEN) == 1
        assert memory.counts[0, lbfgs.PAIRS] == 0
        assert trial[0, 0] == -1.0 - 2.0
