"""Kar, Narasimhan & Jain 2015: precision at the top."""

import numpy as np

from lowrank_rank.calibration import precision_margins
from lowrank_rank.metrics import measure_score
from lowrank_rank.surrogates import precision_surrogate

from . import Row, Source, assert_close


def random_list(rng):
    """Draw labels with a positive and a negative, scores, and k."""
    n = int(rng.integers(2, 10))
    y = rng.integers(0, 2, n)
    first, other = rng.permutation(n)[:2]
    y[first], y[other] = 1, 0
    k = int(rng.integers(1, y.sum() + 1))
    return y, rng.normal(scale=rng.choice([0.3, 1.0, 3.0]), size=n), k


def surrogate(name, y, scores, k):
    """Return the value of a surrogate."""
    return precision_surrogate(y, scores, k, surrogate=name)[0]


def equation_1(rng):
    """prec@k counts the negatives in the top k: k minus k times the precision."""
    for _ in range(50):
        y, scores, k = random_list(rng)
        top = np.argsort(-scores)[:k]
        count = sum(1 - y[i] for i in top)
        assert_close(k * (1 - measure_score(f"precision@{k}", y, scores)), count)


def equation_2(rng):
    """Delta and K of the k best count the negatives and the positives among them."""
    for _ in range(50):
        y, scores, k = random_list(rng)
        marked = np.zeros(len(y))
        marked[np.argsort(-scores)[:k]] = 1
        delta = ((1 - y) * marked).sum()
        hits = (y * marked).sum()
        assert delta + hits == k
        assert_close(measure_score(f"precision@{k}", y, scores), hits / k)


def equation_5(rng):
    """ramp is struct plus the sum of the P - k lowest positive scores."""
    for _ in range(50):
        y, scores, k = random_list(rng)
        lowest = np.sort(scores[y == 1])[: y.sum() - k].sum()
        struct = surrogate("struct", y, scores, k)
        assert_close(surrogate("ramp", y, scores, k), struct + lowest)


def claim_1(rng):
    """Where ramp is 0, the k best positives are above every negative by 1."""
    for _ in range(50):
        y, scores, k = random_list(rng)
        scores = scores + (y * (scores > 0)) * 3.0
        if surrogate("ramp", y, scores, k) <= 1e-12:
            best = np.sort(scores[y == 1])[::-1][:k]
            assert best.min() >= scores[y == 0].max() + 1 - 1e-9


def claim(name, margin, rng):
    """Scale scores to a margin of 1: the surrogate is 0, and below 1 it is not."""
    n_found = 0
    while n_found < 20:
        y, scores, k = random_list(rng)
        reached = getattr(precision_margins(y, scores + 2.0 * y, k), margin)
        if reached <= 1e-3:
            continue
        n_found += 1
        at_one = (scores + 2.0 * y) / reached
        assert surrogate(name, y, at_one * (1 + 1e-9), k) <= 1e-12
        assert surrogate(name, y, at_one * (1 - 1e-3), k) > 0


def claim_3(rng):
    """ramp is 0 under the weak (k, 1)-margin."""
    claim("ramp", "weak", rng)


def claim_6(rng):
    """avg is 0 under the (k, 1)-margin."""
    claim("avg", "average", rng)


def claim_of_max(rng):
    """max is 0 under the strong 1-margin."""
    claim("max", "strong", rng)


def appendix_a(rng):
    """struct prefers the wrong sign, and is negative where prec@1 is 1."""
    x = np.array([-1.0, -1.0, -1.0, -1.0, -2.0, -2.0])
    y = np.array([1, 1, 1, 1, 0, 0])
    c = rng.uniform(0.5, 2.0)
    wrong, right = (surrogate("struct", y, w * x, 1) for w in (-c, c))
    assert wrong < right
    assert_close([wrong, right], [1 + 2 * c - 4 * c, max(0.0, 1 - c) + 3 * c])


def steps(rng, name):
    """Yield steps of a perceptron on random batches: w, X, y, k, D and the next w."""
    from ..top_cases import perceptron_step

    w = np.zeros(3)
    k = int(rng.integers(1, 4))
    for _ in range(40):
        y = rng.permutation((np.arange(12) < rng.integers(k, 8)).astype(int))
        X = rng.normal(size=(12, 3))
        X[:, 0] += y
        scores = X @ w
        top = np.lexsort([y, -scores])[:k]  # of equal scores the negative is higher
        after = w + X.T @ perceptron_step(y, scores, k, surrogate=name)
        yield w, X, y, k, int((1 - y[top]).sum()), after
        w = after


def lemma_18(rng):
    """|w_t|^2 <= |w_{t-1}|^2 + 4 k R^2 D: the step is at most 2 R D, and D <= k."""
    for name in ("avg", "max"):
        for w, X, _, k, n_wrong, after in steps(rng, name):
            largest = np.linalg.norm(X, axis=1).max()
            bound = w @ w + 4 * k * largest**2 * n_wrong
            assert after @ after <= bound + 1e-9
            assert (after - w) @ w <= 1e-9


def gain(name, rng):
    """<w_t, w> >= <w_{t-1}, w> + D - surrogate of w, for any w."""
    for w, X, y, k, n_wrong, after in steps(rng, name):
        for other in rng.normal(size=(3, 3)):
            value = surrogate(name, y, X @ other, k)
            assert after @ other >= w @ other + n_wrong - value - 1e-9


def lemma_19(rng):
    """For Perceptron@k-avg and its surrogate."""
    gain("avg", rng)


def lemma_20(rng):
    """For Perceptron@k-max and its surrogate."""
    gain("max", rng)


def corollary_8(rng):
    """A unit w with a margin gives 4 k R^2 / gamma^2, below the bound of theorem 7."""
    for name, sense in (("avg", "average"), ("max", "strong")):
        y, scores, k = random_list(rng)
        scores = scores + (1.0 + np.ptp(scores)) * y  # all positives are above
        radius, norm = rng.uniform(0.1, 3.0, 2)
        margins = precision_margins(y, scores, k)
        bound = margins.mistake_bound(radius, norm, surrogate=name)
        of_margin = 4 * k * (norm * radius / getattr(margins, sense)) ** 2
        loss = surrogate(name, y, scores, k)
        general = (norm * radius * np.sqrt(4 * k) + np.sqrt(loss)) ** 2
        assert_close(bound, min(of_margin, general))


def positive_increments(rng):
    """Slopes count the positive increments of the closed forms; those of 0 add nothing."""
    n_ties = 0
    for _ in range(60):
        y, scores, k = random_list(rng)
        scores = np.round(scores)  # the increments are whole numbers
        a = np.sort(scores[y == 1])[::-1]
        b = np.sort(scores[y == 0])[::-1]
        P = len(a)
        for name in ("ramp", "max", "struct"):
            last = P if name == "max" else k
            places = range(1, min(k, len(b)) + 1)
            increments = [1 + b[d - 1] - a[last - d] for d in places]
            value = sum(max(0.0, one) for one in increments)
            d = sum(one > 0 for one in increments)
            n_ties += 0.0 in increments
            if name == "struct":
                value, last = value - a[k:].sum(), P
            # 1 on the d best negatives, -1 on the positives (first, last].
            first = (P if name == "max" else k) - d
            slopes = [*np.ones(d), *np.zeros(len(b) - d)]
            found, slope = precision_surrogate(y, scores, k, surrogate=name)
            assert_close(found, value)
            order = np.argsort(-scores, kind="stable")
            negatives = [i for i in order if y[i] == 0]
            positives = [i for i in order if y[i] == 1]
            assert_close(slope[negatives], slopes)
            by_hand = np.zeros(P)
            by_hand[first:last] = -1.0
            assert_close(slope[positives], by_hand)
    assert n_ties > 0


def published_steps(rng):
    """A step of SGD is eta / (R^2 sqrt t) slope / k, then the ball |w| <= 1 / (alpha R)."""
    from ..top_cases import batch_of, path_from, step_on

    for alpha in (0.0, rng.uniform(0.1, 1.0), 5.0):
        y = rng.permutation([1, 1, 1, 0, 0, 0, 0])
        X = rng.normal(size=(7, 2))
        k = int(rng.integers(1, 4))
        eta = rng.uniform(0.5, 3.0)
        batch = batch_of(X, y, k)
        path = path_from(np.zeros(2), X, k)
        R2 = (X**2).sum() / 7
        w, total = np.zeros(2), np.zeros(2)
        for t in range(1, 5):
            _, slope = precision_surrogate(y, X @ w, k, surrogate="avg")
            step_on(path, batch, "avg", "sgd", eta0=eta, alpha=alpha)
            w = w - eta / (R2 * np.sqrt(t)) * (slope @ X) / k
            radius = 1 / (alpha * np.sqrt(R2)) if alpha else np.inf
            norm = np.linalg.norm(w)
            if norm > radius:
                w = w * radius / norm
            total = total + w
            assert_close(path.last, w)
            assert_close(path.mean, total / t)
            assert path.n_steps == t
    # The default: the penalty pulls to the start, and late steps count more.
    start = rng.normal(size=2)
    n_places = 5
    path = path_from(start, X, n_places)
    w, mean = start, start
    for t in range(1, 5):
        _, slope = precision_surrogate(y, X @ w, k, surrogate="avg")
        step_on(path, batch, "avg", eta0=eta, alpha=alpha)
        step = w - eta / (R2 * np.sqrt(t)) * (slope @ X) / k
        # The least of |w - step|^2 + pull |w - start|^2.
        pull = eta / np.sqrt(t) * alpha * R2 / n_places
        w = (step + pull * start) / (1 + pull)
        mean = mean + 4 / (t + 3) * (w - mean)
        assert_close(path.last, w)
        assert_close(path.mean, mean)
    # Features that are all 0 move nothing.
    nothing = path_from(np.zeros(2), np.zeros((7, 2)), 1)
    step_on(nothing, batch_of(np.zeros((7, 2)), y, 1), "avg", "sgd", eta0=1, alpha=1)
    assert_close(nothing.mean, np.zeros(2))


TOP = "test_precision_at_top_surrogates"
MARGINS = "test_precision_at_top_surrogates_margins"
PUBLISHED = "test_precision_at_top_published"
NEW_DATA = (
    "a bound for new data of the order of one over the root of the number of rows; the "
    "guide measures on held-out rows"
)
FIGURES = (
    "``python -m benchmarks papers --part top`` repeats it on Letter, IJCNN and Adult; "
    "PPI, KDD Cup 2008, Covertype and Cod-RNA are not read"
)
CLOSED = f"{TOP}::test_closed_forms_equal_enumeration"
WORKED = f"{TOP}::test_worked_values"

ROWS = [
    Row(
        "equation (1)",
        "prec@k, the number of negatives in the top k.",
        "metrics.measure_score",
        checks=(equation_1,),
        tests=(WORKED,),
    ),
    Row(
        "equation (2)",
        "Δ and K, the negatives and the positives of a set of k points.",
        "metrics.measure_score",
        checks=(equation_2,),
    ),
    Row(
        "equation (3)",
        "struct, the surrogate of Joachims.",
        "surrogates.precision_surrogate",
        tests=(CLOSED, WORKED, f"{TOP}::test_struct_is_no_upper_bound"),
    ),
    Row(
        "equation (4)",
        "ramp, the tightest surrogate, which is not convex.",
        "surrogates.precision_surrogate",
        tests=(CLOSED, f"{TOP}::test_ramp_is_not_convex"),
    ),
    Row(
        "claim 1",
        "ramp is above prec@k. Where it is 0, k positives are above every negative by "
        "1.",
        "surrogates.precision_surrogate",
        checks=(claim_1,),
        tests=(f"{TOP}::test_hierarchy",),
    ),
    Row(
        "definition 2",
        "The weak (k, gamma)-margin: some k positives are above every negative by gamma.",
        "calibration.precision_margins",
        tests=(f"{MARGINS}::test_margins_by_definition",),
    ),
    Row(
        "claim 3",
        "Consistency: ramp is 0 for scores with the weak (k, 1)-margin.",
        "calibration.precision_margins",
        checks=(claim_3,),
        tests=(f"{MARGINS}::test_zero_if_and_only_if_the_margin_is_one",),
    ),
    Row(
        "equation (5)",
        "ramp is struct plus the sum of the P - k lowest positive scores.",
        "surrogates.precision_surrogate",
        checks=(equation_5,),
    ),
    Row(
        "equation (6)",
        "max, convex: the highest missed positives take the place of the lowest.",
        "surrogates.precision_surrogate",
        tests=(CLOSED, f"{TOP}::test_convex_along_segments"),
    ),
    Row(
        "definition 4",
        "The strong gamma-margin: every positive is above every negative by gamma.",
        "calibration.precision_margins",
        checks=(claim_of_max,),
        tests=(f"{MARGINS}::test_margins_by_definition",),
    ),
    Row(
        "equation (7)",
        "avg, convex: the mean of the missed positives takes the place of the lowest.",
        "surrogates.precision_surrogate",
        tests=(CLOSED, f"{TOP}::test_all_equal_where_k_is_all_positives"),
    ),
    Row(
        "definition 5",
        "The (k, gamma)-margin: every P - k + 1 positives are on average above every "
        "negative by gamma.",
        "calibration.precision_margins",
        tests=(f"{MARGINS}::test_margins_by_definition",),
    ),
    Row(
        "claim 6",
        "Consistency: avg is 0 for scores with the (k, 1)-margin.",
        "calibration.precision_margins",
        checks=(claim_6,),
        tests=(f"{MARGINS}::test_zero_if_and_only_if_the_margin_is_one",),
    ),
    Row(
        "figure 1",
        "prec@k ≤ ramp ≤ avg ≤ max, and the margins in the same order.",
        "surrogates.precision_surrogate",
        tests=(f"{TOP}::test_hierarchy",),
    ),
    Row(
        "algorithm 1",
        "Perceptron@k-avg.",
        "PrecisionAtKPerceptron",
        tests=(
            f"{TOP}::test_worked_updates",
            f"{PUBLISHED}::test_a_fit_is_the_published_loop_over_its_mini_batches",
        ),
    ),
    Row(
        "theorem 7",
        "Its mistakes are at most (‖w‖ R √(4k) + √L)², with L the sum of avg, for "
        "any w.",
        "calibration.precision_margins",
        tests=(
            f"{MARGINS}::test_mistake_bound_on_any_stream_and_any_weights",
            f"{MARGINS}::test_mistake_bound_values",
        ),
    ),
    Row(
        "corollary 8",
        "With a (k, gamma)-margin: at most 4 k R² / gamma².",
        "calibration.precision_margins",
        checks=(corollary_8,),
        tests=(f"{MARGINS}::test_mistake_bound_on_separable_streams",),
    ),
    Row(
        "algorithm 2",
        "Perceptron@k-max.",
        "PrecisionAtKPerceptron",
        tests=(
            f"{TOP}::test_worked_updates",
            f"{PUBLISHED}::test_a_fit_is_the_published_loop_over_its_mini_batches",
        ),
    ),
    Row(
        "theorem 9",
        "The bound of theorem 7 for Perceptron@k-max, with L the sum of max.",
        "calibration.precision_margins",
        tests=(f"{MARGINS}::test_mistake_bound_on_any_stream_and_any_weights",),
    ),
    Row(
        "corollary 10",
        "With a strong gamma-margin: at most 4 k R² / gamma².",
        "calibration.precision_margins",
        checks=(corollary_8,),
        tests=(f"{MARGINS}::test_mistake_bound_on_separable_streams",),
    ),
    Row(
        "algorithm 3",
        "SGD@k-avg on mini-batches; 1PMB is the same with struct.",
        "PrecisionAtKPerceptron",
        checks=(published_steps,),
        tests=(
            f"{PUBLISHED}::test_a_fit_is_the_published_loop_over_its_mini_batches",
            f"{PUBLISHED}::test_the_projection_binds",
        ),
    ),
    Row(
        "algorithm 4",
        "The subgradient of avg, after one sort.",
        "surrogates.precision_surrogate",
        checks=(positive_increments,),
        tests=(
            f"{TOP}::test_subgradient_inequality",
            f"{TOP}::test_gradient_numerically",
        ),
    ),
    Row("definition 11", "Uniform convergence.", missing=NEW_DATA),
    Row(
        "theorem 12",
        "prec@k and its surrogates converge uniformly.",
        missing=NEW_DATA,
    ),
    Row(
        "theorem 13",
        "The mean prec@k of the models of a stream on new data.",
        missing=NEW_DATA,
    ),
    Row("corollary 14", "The same for Perceptron@k-avg.", missing=NEW_DATA),
    Row("theorem 15", "The convergence of SGD@k-avg on new data.", missing=NEW_DATA),
    Row("figure 2", "Precision against training time.", missing=FIGURES),
    Row("figure 3", "Precision by depth and by batch length.", missing=FIGURES),
    Row(
        "section 6",
        "SVMperf: struct over all rows, by cutting planes.",
        "PrecisionAtKPerceptron",
        tests=("test_fitting_cutting_plane::test_cutting_planes_certify_the_minimum",),
    ),
    Row(
        "appendix A",
        "An example where struct prefers the wrong sign and is below prec@1.",
        "surrogates.precision_surrogate",
        checks=(appendix_a,),
    ),
    Row(
        "lemma 16",
        "The mean of the lowest numbers is at most the mean of more of them.",
        step_of="claim 6",
    ),
    Row(
        "claim 17",
        "avg is above prec@k and convex.",
        "surrogates.precision_surrogate",
        tests=(f"{TOP}::test_hierarchy", f"{TOP}::test_convex_along_segments"),
    ),
    Row(
        "lemma 18",
        "A step raises ‖w‖² by at most 4 k R² times the mistakes.",
        "PrecisionAtKPerceptron",
        checks=(lemma_18,),
    ),
    Row(
        "lemma 19",
        "A step of Perceptron@k-avg raises ⟨w_t, w⟩ by at least the mistakes minus avg "
        "of w.",
        "PrecisionAtKPerceptron",
        checks=(lemma_19,),
    ),
    Row(
        "lemma 20",
        "A step of Perceptron@k-max raises it by at least the mistakes minus max of w.",
        "PrecisionAtKPerceptron",
        checks=(lemma_20,),
    ),
    Row(
        "lemma 21",
        "A maximum of Lipschitz functions is Lipschitz.",
        step_of="theorem 12",
    ),
    Row(
        "lemma 22",
        "Means over the top of a sample are near those of the population.",
        step_of="theorem 12",
    ),
    Row("lemma 23", "The same for prec@k of one model.", step_of="theorem 24"),
    Row("theorem 24", "Uniform convergence of prec@k.", missing=NEW_DATA),
    Row("theorem 25", "Uniform convergence of ramp.", missing=NEW_DATA),
    Row(
        "lemma 26",
        "avg at a number of true positives is Lipschitz in this number.",
        step_of="theorem 28",
    ),
    Row(
        "lemma 27",
        "avg at a number of true positives converges, for one model.",
        step_of="theorem 28",
    ),
    Row("theorem 28", "Uniform convergence of avg.", missing=NEW_DATA),
    Row(
        "corollary 29",
        "Sums of the k largest of Lipschitz functions are Lipschitz.",
        step_of="theorems 25 and 28",
    ),
]

SOURCE = Source("Kar, Narasimhan & Jain 2015: precision at the top", ROWS)
