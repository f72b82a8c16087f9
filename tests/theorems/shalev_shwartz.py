"""Shalev-Shwartz & Ben-David 2014, chapter 17: structured hinges."""

import itertools

import numpy as np
from numpy.testing import assert_array_equal
from scipy.optimize import linprog, minimize
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import LinearSVC

from lowrank_rank.metrics import measure_score
from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import structured_hinge
from lowrank_rank.target_losses import FBeta

from ..internals import BalancedAccuracy, KendallTau, RankingLists
from . import Row, Source, assert_close, hinges

# Classes ----------------------------------------------------------------------------


def three_classes(rng, n=40):
    """Draw rows whose class is mostly that of the largest feature."""
    X = rng.normal(size=(n, 3))
    y = (X + 0.7 * rng.normal(size=X.shape)).argmax(axis=1)
    y[:3] = 0, 1, 2
    return X, y


def hinge_of_classes(coef, X, y, costs):
    """Compute the mean of max over y' of cost(y, y') + <w_y' - w_y, x>, and its slope."""
    scores = X @ coef.T
    augmented = costs[y] + scores
    every = np.arange(len(y))
    worst = augmented.argmax(axis=1)
    value = np.mean(augmented[every, worst] - scores[every, y])
    eye = np.eye(len(costs))
    return value, (eye[worst] - eye[y]).T @ X / len(y)


def equation_17_1(rng):
    """One-versus-all takes the largest score, all-pairs the most wins."""
    X, y = three_classes(rng)
    rest = OneVsRestClassifier(LinearSVC()).fit(X, y)
    scores = np.column_stack([one.decision_function(X) for one in rest.estimators_])
    assert_array_equal(rest.predict(X), scores.argmax(axis=1))
    pairs = OneVsOneClassifier(LinearSVC()).fit(X, y)
    wins = np.zeros((len(y), 3))
    for (i, j), one in zip(
        itertools.combinations(range(3), 2), pairs.estimators_, strict=True
    ):
        second = one.predict(X)
        wins[:, i] += 1 - second
        wins[:, j] += second
    found = pairs.predict(X)
    assert np.all(wins[np.arange(len(y)), found] == wins.max(axis=1))


def random_costs(rng):
    """Draw costs of three classes, 0 for the right one."""
    costs = rng.uniform(0.2, 2.0, (3, 3))
    np.fill_diagonal(costs, 0.0)
    return costs


def equation_17_2(rng):
    """<w, Psi(x, y)> is <w_y, x>, and the largest decides."""
    X, y = three_classes(rng)
    model = StructuredHingeClassifier(fit_intercept=False).fit(X, y)
    w = model.coef_.ravel()
    scores = np.zeros((len(X), 3))
    for i, x in enumerate(X):
        for label in range(3):
            psi = np.zeros((3, 3))
            psi[label] = x
            scores[i, label] = psi.ravel() @ w
    assert_close(model.decision_function(X), scores)
    assert_array_equal(model.predict(X), scores.argmax(axis=1))


def section_17_2_2(rng):
    """The score is one minus the mean cost of the decisions."""
    X, y = three_classes(rng)
    costs = random_costs(rng)
    model = StructuredHingeClassifier(loss_matrix=costs).fit(X, y)
    mean_cost = costs[y, model.predict(X)].mean()
    assert_close(model.score(X, y), 1 - mean_cost)


def equation_17_3(rng):
    """The generalised hinge bounds the cost, and is the cost beyond the margin."""
    X, y = three_classes(rng)
    costs = random_costs(rng)
    alpha = 10 ** rng.uniform(-2, 0)
    plain = {"standardize": False, "fit_intercept": False, "loss_matrix": costs}
    model = StructuredHingeClassifier(alpha=alpha, **plain).fit(X, y)
    value, _ = hinge_of_classes(model.coef_, X, y, costs)
    penalty = alpha / 2 * (model.coef_**2).sum()
    assert_close(model.objective_, penalty + value)
    assert value >= costs[y, model.predict(X)].mean() - 1e-12
    for _ in range(30):  # no other weights are better by more than the gap
        other = model.coef_ + rng.normal(size=(3, 3)) * rng.choice([0.01, 0.1, 1.0])
        there = alpha / 2 * (other**2).sum() + hinge_of_classes(other, X, y, costs)[0]
        assert there >= model.objective_ - model.dual_gap_ - 1e-12


def remark_17_2(rng):
    """For two classes and Psi = y x / 2: max(0, 1 - y <w, x>), here w_2 - w_1."""
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1, -1)
    y[:2] = 1, -1
    model = StructuredHingeClassifier(
        alpha=0.1, standardize=False, fit_intercept=False
    ).fit(X, y)
    w = model.coef_[1] - model.coef_[0]
    hinge = np.maximum(0.0, 1 - y * (X @ w)).mean()
    assert_close(model.objective_, 0.1 / 2 * (model.coef_**2).sum() + hinge)


def corollary_17_1(rng):
    """The expected hinge of the SVM with lambda = sqrt(2 rho^2 / (B^2 m))."""
    rows, labels = three_classes(rng, 60)
    rho = 2 * np.linalg.norm(rows, axis=1).max()
    costs = 1.0 - np.eye(3)
    B, m = 2.0, 200

    def risk(w):
        value, slope = hinge_of_classes(w.reshape(3, 3), rows, labels, costs)
        return value, slope.ravel()

    least = minimize(
        risk,
        np.zeros(9),
        jac=True,
        constraints={"type": "ineq", "fun": lambda u: B**2 - u @ u},
        method="SLSQP",
    ).fun
    penalty = np.sqrt(2 * rho**2 / (B**2 * m))
    found = []
    for _ in range(4):  # samples from the distribution of these rows
        drawn = np.append([0, 1, 2], rng.integers(0, 60, m - 3))
        # lambda |w|^2 is alpha / 2 |w|^2.
        model = StructuredHingeClassifier(
            alpha=2 * penalty, standardize=False, fit_intercept=False, tol=1e-4
        ).fit(rows[drawn], labels[drawn])
        found.append(risk(model.coef_.ravel())[0])
        wrong = np.mean(model.predict(rows) != labels)
        assert wrong <= found[-1] + 1e-12
    assert np.mean(found) <= least + np.sqrt(8 * rho**2 * B**2 / m)


def theorem_17_5(rng):
    """The batch perceptron stops after at most (R |w*|)^2 updates, with no mistake."""
    target = rng.normal(size=(3, 3))
    X = rng.normal(size=(200, 3))
    scores = np.sort(X @ target.T, axis=1)
    margins = scores[:, 2] - scores[:, 1]
    kept = margins > np.quantile(margins, 0.5)
    X = X[kept]
    y = (X @ target.T).argmax(axis=1)
    target = target / margins[kept].min()
    model = StructuredHingeClassifier(
        solver="perceptron", standardize=False, fit_intercept=False, max_iter=20_000
    ).fit(X, y)
    largest = np.sqrt(2) * np.linalg.norm(X, axis=1).max()
    assert model.n_iter_ <= (largest * np.linalg.norm(target)) ** 2
    assert model.score(X, y) == 1.0


def exercise_1(rng):
    """Classes in balls that are 4 r apart have weights without a hinge."""
    r = rng.uniform(1.0, 3.0)
    centres = 4 * r * np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.2]])
    y = np.repeat(np.arange(3), 10)
    step = rng.normal(size=(30, 2))
    step *= r * rng.uniform(size=(30, 1)) / np.linalg.norm(step, axis=1, keepdims=True)
    X = centres[y] + step
    w = np.column_stack([centres, -(centres**2).sum(axis=1) / 2])
    constant = np.column_stack([X, np.ones(30)])
    assert hinge_of_classes(w, constant, y, 1.0 - np.eye(3))[0] == 0.0
    alpha = 1e-6
    model = StructuredHingeClassifier(alpha=alpha, standardize=False, tol=1e-6)
    model.set_params(max_iter=5000).fit(X, y)
    least = model.objective_ - model.dual_gap_
    assert least <= alpha / 2 * (w**2).sum()
    assert model.score(X, y) == 1.0


# Sequences --------------------------------------------------------------------------


def equation_17_4(rng):
    """The predicted labels have the largest score of all label sequences."""
    X, qid = rng.normal(size=(20, 2)), np.repeat(np.arange(5), 4)
    y = rng.integers(0, 3, 20)
    y[:3] = 0, 1, 2
    model = StructuredHingeSequenceClassifier(alpha=0.01).fit(X, y, qid=qid)
    model.transitions_ = rng.normal(size=(3, 3))
    labels = model.predict(X, qid=qid)
    every = list(itertools.product(range(3), repeat=4))
    for q in range(5):
        emissions = X[qid == q] @ model.coef_.T + model.intercept_

        def score(letters, emissions=emissions):
            own = sum(emissions[t, letters[t]] for t in range(4))
            after = sum(
                model.transitions_[letters[t - 1], letters[t]] for t in range(1, 4)
            )
            return own + after

        assert_close(score(labels[qid == q]), max(map(score, every)))


def exercise_3(rng):
    """The objective is the penalty plus the largest over all label sequences."""
    X, qid = rng.normal(size=(12, 2)), np.repeat(np.arange(4), 3)
    y = rng.integers(0, 2, 12)
    y[:2] = 0, 1
    every = np.array(list(itertools.product(range(2), repeat=3)))
    for solver in ("lbfgs", "cutting_plane"):
        model = StructuredHingeSequenceClassifier(alpha=0.05, solver=solver)
        model.fit(X, y, qid=qid)
        emissions = X @ model.coef_.T + model.intercept_
        total = 0.0
        for q in range(4):
            own = emissions[qid == q]
            scores = own[np.arange(3), every].sum(axis=1)
            scores += model.transitions_[every[:, :-1], every[:, 1:]].sum(axis=1)
            delta = (every != y[qid == q]).sum(axis=1)
            right = int(np.flatnonzero((every == y[qid == q]).all(axis=1))[0])
            total += (delta + scores).max() - scores[right]
        weights = (model.coef_, model.intercept_, model.transitions_)
        penalty = 0.05 / 2 * sum((part**2).sum() for part in weights)
        assert_close(model.objective_, penalty + total / 12)


# Rankings ---------------------------------------------------------------------------


def kendall_tau(rng):
    """The fraction of pairs with another sign, and the hinge above it."""
    for r in (2, 3, 6):
        y, s = rng.integers(0, 3, r) * 1.0, rng.normal(size=r)
        y[0] = y[1] + 1.0
        pairs = list(itertools.combinations(range(r), 2))
        wrong = sum(np.sign(s[i] - s[j]) != np.sign(y[i] - y[j]) for i, j in pairs)
        loss = 2 / (r * (r - 1)) * wrong
        assert_close(-measure_score("kendall", y, s), loss)
        hinge = (
            2
            / (r * (r - 1))
            * sum(max(0.0, 1 - np.sign(y[i] - y[j]) * (s[i] - s[j])) for i, j in pairs)
        )
        assert_close(structured_hinge("kendall", y, s)[0], hinge)
        assert hinge >= loss


def kendall_of_orders(rng):
    """The mean of the loss over all orders that agree with tied scores."""
    for _ in range(3):
        y = rng.integers(0, 3, 5) * 1.0
        s = rng.integers(0, 3, 5) * 1.0
        lists = RankingLists([5])
        losses = []
        for order in itertools.permutations(range(5)):
            untied = s - 0.1 * np.array(order)
            losses.append(KendallTau().values(y, untied, lists)[0])
        found = KendallTau().values_of_orders(y, s, lists)[0]
        assert_close(found, np.mean(losses))
        pairs = list(itertools.combinations(range(5), 2))
        wrong = sum(np.sign(s[i] - s[j]) != np.sign(y[i] - y[j]) for i, j in pairs)
        assert_close(KendallTau().values(y, s, lists)[0], -wrong / 10)


def equation_17_6(rng):
    """The scores of a list are <w, x_i>, and the fit orders by them."""
    X, qid = rng.normal(size=(20, 2)), np.repeat(np.arange(4), 5)
    y = rng.integers(0, 3, 20) * 1.0
    y[::5], y[1::5] = 2.0, 0.0
    model = StructuredHingeRanker().fit(X, y, qid=qid)
    scores = model.predict(X)
    by_hand = X @ model.coef_
    assert_close(scores - scores.mean(), by_hand - by_hand.mean())
    ranks = model.rank(X, qid=qid)
    for q in range(4):
        own = scores[qid == q]
        assert_array_equal(ranks[qid == q], np.argsort(np.argsort(-own)) + 1)


def places(rng, r):
    """Draw grades, scores, the discounts of places from the bottom, and k."""
    y = rng.permutation(r) + 1.0
    k = int(rng.integers(1, r + 1))
    i = np.arange(1, r + 1)
    discount = np.where(i >= r - k + 1, 1 / np.log2(r - i + 2), 0.0)
    return y, rng.normal(size=r), discount, k


def equation_17_7(rng):
    """The places by the scores maximise sum_i v_i s_i over all permutations."""
    for r in (2, 3, 5):
        _, s, _, _ = places(rng, r)
        own = np.argsort(np.argsort(s)) + 1
        every = np.array(list(itertools.permutations(range(1, r + 1))))
        sums = every @ s
        assert_close(own @ s, sums.max())
        # Of large scores, the worst order of the hinge is this one.
        y = rng.permutation(r) + 1.0
        _, slopes = structured_hinge("ndcg", y, 1e6 * s)
        assert_array_equal(slopes + np.argsort(np.argsort(y)) + 1, own)


def ndcg_loss(rng):
    """One minus G(y', y) / G(y, y), in places from the bottom."""
    for r in (2, 4, 6):
        y, s, discount, k = places(rng, r)
        own = np.argsort(np.argsort(y)) + 1
        other = np.argsort(np.argsort(s)) + 1
        ratio = discount[other - 1] @ y / (discount[own - 1] @ y)
        assert_close(measure_score(f"ndcg@{k}", y, s), ratio)
        value = structured_hinge(f"ndcg@{k}", y, s)[0][0]
        assert value >= 1 - ratio - 1e-12


def equation_17_10(rng):
    """The linear program over doubly stochastic matrices has the value of (17.8)."""
    for r in (2, 4, 5):
        y, s, discount, k = places(rng, r)
        own = np.argsort(np.argsort(y)) + 1
        best = discount[own - 1] @ y
        j = np.arange(1, r + 1)
        A = np.outer(-s, j) + np.outer(y / best, discount)
        rows = np.kron(np.eye(r), np.ones(r))
        columns = np.kron(np.ones(r), np.eye(r))
        found = linprog(A.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.ones(2 * r))
        value = 1 - found.fun - own @ s
        assert_close(structured_hinge(f"ndcg@{k}", y, s)[0][0], value, atol=1e-7)


# Marks of all rows ------------------------------------------------------------------


def counts(y, s):
    """Count a, b, c, d of (17.11)."""
    marked = s > 0
    a = int((marked & (y == 1)).sum())
    b = int((marked & (y == 0)).sum())
    return a, b, int((y == 1).sum()) - a, int((y == 0).sum()) - b


def equation_17_11(rng):
    """F_beta and balanced accuracy of the counts of the scores above 0."""
    for _ in range(20):
        y = rng.permutation([1, 1, 1, 0, 0, 0, 0])
        s = rng.normal(size=7)
        s[y.argmax()] = abs(s[y.argmax()])
        a, b, c, d = counts(y, s)
        precision, recall = a / (a + b), a / (a + c)
        beta = rng.uniform(0.5, 2.0)
        f_beta = (1 + beta**2) / (1 / precision + beta**2 / recall)
        found = FBeta(beta=beta).of_counts(a, b, 3.0, 4.0)
        assert_close(found, f_beta)
        # The hinges are above the losses 1 - F_beta and 1 - (recall + specificity) / 2.
        value = structured_hinge(FBeta(beta=beta), y, s)[0][0]
        assert value >= 1 - f_beta - 1e-12
        balanced = 1 - (a / (a + c) + d / (d + b)) / 2
        assert structured_hinge("balanced_accuracy", y, s)[0][0] >= balanced - 1e-12


def counts_of_all_marks(rng):
    """F_beta and balanced accuracy of all labels and all marks of four rows."""
    beta = rng.uniform(0.3, 3.0)
    every = list(itertools.product([0, 1], repeat=4))
    for y, marked in itertools.product(every, every):
        a, b, c, d = counts(np.array(y), np.array(marked))
        P, N = float(a + c), float(b + d)
        found = FBeta(beta=beta).of_counts(float(a), float(b), P, N)
        if a + b + c == 0:  # nothing is relevant, and nothing is marked
            assert found == 1.0
        else:
            size = (1 + beta**2) * a + b + beta**2 * c
            assert_close(found, (1 + beta**2) * a / size)
        found = BalancedAccuracy().of_counts(float(a), float(b), P, N)
        if P == 0 or N == 0:
            assert np.isnan(found)
        else:
            assert_close(found, (a / P + d / N) / 2)


def equation_17_13(rng):
    """The marks maximise sum_i v_i s_i over V, all marks, at least k, at most k."""
    every = np.array(list(itertools.product([-1, 1], repeat=6)))
    for _ in range(10):
        y = rng.permutation([1, 1, 1, 0, 0, 0])
        s = rng.normal(size=6)
        n_marked = (every > 0).sum(axis=1)
        for name, allowed in (
            ("f1", n_marked >= 0),
            ("precision@2", n_marked >= 2),
            ("recall@4", n_marked <= 4),
        ):
            largest = (every[allowed] @ s).max()
            # Of large scores, the worst marks of the hinge are these.
            _, slopes = structured_hinge(name, y, 1e6 * s)
            marks = slopes + 2 * y - 1
            assert_close(marks @ s, largest)


RADIUS = "test_structured_radius"
LOOP = f"{RADIUS}::test_a_fit_is_the_loop_of_the_book"
PLACES = "test_structured_maximisers"

ROWS = [
    Row(
        "equation (17.1)",
        "One-versus-all takes the class of the largest score, all-pairs that of the "
        "most wins.",
        "sklearn.multiclass.OneVsRestClassifier",
        checks=(equation_17_1,),
    ),
    Row(
        "example 17.1",
        "Three classes that one-versus-all does not separate.",
        "structured.StructuredHingeClassifier",
        tests=(
            "test_structured_classifiers"
            "::test_example_17_1_one_versus_all_fails_and_the_multivector_does_not",
        ),
    ),
    Row(
        "equation (17.2)",
        "The multivector construction: ⟨w, Ψ(x, y)⟩ = ⟨w_y, x⟩.",
        "structured.StructuredHingeClassifier",
        checks=(equation_17_2,),
    ),
    Row(
        "section 17.2.1",
        "Other feature maps Ψ, such as TF-IDF.",
        missing="no user asked for one; scikit-learn has TfidfTransformer for X",
    ),
    Row(
        "section 17.2.2",
        "Costs Δ(y', y) of each decision for each class.",
        "structured.StructuredHingeClassifier",
        checks=(section_17_2_2,),
    ),
    Row(
        "section 17.2.3",
        "The linear program of separable classes.",
        missing="the batch perceptron of exercise 2 separates them",
    ),
    Row(
        "equation (17.3)",
        "The generalised hinge max Δ(y', y) + ⟨w, Ψ(x, y') - Ψ(x, y)⟩, which bounds "
        "the cost.",
        "structured.StructuredHingeClassifier",
        checks=(equation_17_3, hinges.worst_labels, hinges.soft_classes),
    ),
    Row(
        "remark 17.2",
        "For two classes it is the hinge loss.",
        "structured.StructuredHingeClassifier",
        checks=(remark_17_2,),
    ),
    Row(
        "section 17.2.5",
        "The SGD of the hinge: equal steps, no penalty, a plain mean; `radius` in all "
        "four estimators.",
        "structured.StructuredHingeClassifier",
        checks=(
            hinges.linear_problems,
            hinges.lower_bounds,
            hinges.largest_slopes,
            hinges.features_of_zeros,
        ),
        tests=(LOOP,),
    ),
    Row(
        "corollary 17.1",
        "The expected hinge of the SVM with λ = √(2rho² / (B²m)) is at most √(8rho²B² / m) "
        "above the least one of norm B.",
        "structured.StructuredHingeClassifier",
        checks=(corollary_17_1,),
    ),
    Row(
        "corollary 17.2",
        "The expected hinge of SGD is at most Brho / √T above the least one of norm B.",
        "structured.StructuredHingeRanker",
        tests=(f"{RADIUS}::test_the_bound_of_corollary_17_2",),
    ),
    Row(
        "equation (17.4)",
        "The labels of a sequence: the largest sum of scores of elements and "
        "transitions.",
        "structured.StructuredHingeSequenceClassifier",
        checks=(equation_17_4,),
    ),
    Row(
        "equation (17.5)",
        "The dynamic program for it.",
        "structured.StructuredHingeSequenceClassifier",
        tests=("test_structured_chains::test_chains_are_those_of_all_label_sequences",),
    ),
    Row(
        "section 17.3",
        "Features of x and two neighbouring labels together.",
        missing="transitions have one score each, as in the book's own example",
    ),
    Row(
        "section 17.4, 0-1 loss",
        "The 0-1 loss of whole orders.",
        missing='the book: "almost never used in practice"',
    ),
    Row(
        "section 17.4, Kendall",
        "The share of pairs in another order, and its hinge, the mean over pairs.",
        "surrogates.structured_hinge",
        checks=(kendall_tau, kendall_of_orders, hinges.worst_labels, hinges.soft_pairs),
        tests=(
            "test_structured_hinges"
            "::test_the_hinge_of_kendall_is_the_mean_over_all_pairs",
            "test_structured_hinges_of_measures::test_vectors_of_kendall",
        ),
    ),
    Row(
        "section 17.4, NDCG",
        "The NDCG loss with logarithmic discounts, cut at k.",
        "target_losses.NDCG",
        checks=(ndcg_loss,),
    ),
    Row(
        "section 17.4, discounts",
        "The hinge of NDCG with other discounts.",
        missing="no measure of the package has them",
    ),
    Row(
        "equation (17.6)",
        "Linear scores ⟨w, x_i⟩ order the items.",
        "structured.StructuredHingeRanker",
        checks=(equation_17_6,),
    ),
    Row(
        "equation (17.7)",
        "The places π(s) maximise Σ v_i s_i over permutations v.",
        "surrogates.structured_hinge",
        checks=(equation_17_7,),
    ),
    Row(
        "equation (17.8)",
        "The hinge of NDCG, a maximum over permutations.",
        "surrogates.structured_hinge",
        checks=(hinges.worst_labels, hinges.transport, hinges.large_offsets),
        tests=(
            f"{PLACES}::test_the_hinge_is_the_largest_over_all_orders",
            "test_structured_hinges::test_vectors_of_ndcg",
        ),
    ),
    Row(
        "equation (17.9)",
        "Its maximiser is an assignment problem.",
        "surrogates.structured_hinge",
        tests=(f"{PLACES}::test_the_hinge_is_the_largest_over_all_orders",),
    ),
    Row(
        "equation (17.10)",
        "The assignment problem without the constraint of whole numbers.",
        "surrogates.structured_hinge",
        checks=(equation_17_10,),
    ),
    Row(
        "claim 17.3",
        "Doubly stochastic matrices are the convex hull of the permutation matrices.",
        step_of="lemma 17.4",
    ),
    Row(
        "lemma 17.4",
        "(17.10) has the value of (17.9).",
        "surrogates.structured_hinge",
        checks=(equation_17_10,),
    ),
    Row(
        "equation (17.11)",
        "The counts a, b, c, d, and the losses of F_β and of balanced accuracy.",
        "target_losses.FBeta",
        checks=(equation_17_11, counts_of_all_marks),
    ),
    Row(
        "equation (17.12)",
        "The marks of a threshold.",
        "surrogates.structured_hinge",
        checks=(equation_17_13,),
    ),
    Row(
        "equation (17.13)",
        "The marks maximise Σ v_i s_i over V: all marks, at least k, or at most k.",
        "surrogates.structured_hinge",
        checks=(equation_17_13,),
    ),
    Row(
        "equation (17.14)",
        "The hinge of measures of the counts, and its maximiser over a and b.",
        "structured.StructuredHingeBinaryClassifier",
        checks=(hinges.worst_labels,),
        tests=(
            "test_structured_maximisers_counts"
            "::test_whole_list_measures_are_the_best_of_all_label_vectors",
            "test_structured_hinges_of_measures"
            "::test_vectors_of_measures_of_the_whole_list",
            "test_structured_hinges_of_measures::test_hinge_bounds_the_loss_and_is_convex",
        ),
    ),
    Row(
        "exercise 1",
        "Balls that are far apart have weights without a hinge.",
        "structured.StructuredHingeClassifier",
        checks=(exercise_1,),
    ),
    Row(
        "exercise 2",
        "The batch perceptron of classes.",
        "structured.StructuredHingeClassifier",
        checks=(theorem_17_5,),
        tests=(
            "test_structured_classifiers"
            "::test_the_perceptron_makes_no_more_mistakes_than_its_bound",
        ),
    ),
    Row(
        "theorem 17.5",
        "It stops after at most (R ‖w*‖)² updates, with every row right.",
        "structured.StructuredHingeClassifier",
        checks=(theorem_17_5,),
    ),
    Row(
        "exercise 3",
        "The worst labels of the hinge of sequences, by the dynamic program.",
        "structured.StructuredHingeSequenceClassifier",
        checks=(exercise_3, hinges.chains),
    ),
    Row(
        "exercise 3, δ",
        "Losses δ of elements other than 0-1.",
        missing="no user asked for one",
    ),
    Row(
        "exercise 4",
        "(17.7) holds.",
        "surrogates.structured_hinge",
        checks=(equation_17_7,),
    ),
    Row(
        "exercise 5",
        "(17.12) and (17.13) are equal.",
        "surrogates.structured_hinge",
        checks=(equation_17_13,),
    ),
]

SOURCE = Source("Shalev-Shwartz & Ben-David 2014, chapter 17: structured hinges", ROWS)
