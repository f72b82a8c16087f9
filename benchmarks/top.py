"""PrecisionAtKPerceptron against linear classifiers at the top of the list, and its times.

Run it on one thread, OMP_NUM_THREADS=1: the sets are small enough for BLAS threads to cost
more than they bring, and the bars are for one.

quality: precision at k = max(1, floor(share * P + 1/2)) on the test part, P its positives, for
shares 25 %, 50 % and 100 % ("prbep"). Stratified 70/30 splits by seed, features scaled as in the
training part. LogisticRegression (also balanced), LinearSVC and RidgeClassifier have no notion
of k and are judged at all three; ours is fitted for each, otherwise with its defaults, whose
random_state is the seed of the split. Nothing is tuned here. "best" is the largest of the four
means over the seeds and "se" its standard error over them; "better" is above it, "ok" at most
one standard error below, else MISSED.

small: precision minus LogisticRegression's on small data, for tops of 20 rows, 100 rows and 25 % of
the positives, in ten splits (--splits). A model learns from 1,000 or 4,000 rows, standardised, and
is judged on other rows in lists of as many. "verdict" is of two standard errors. Bars: the mean is
at least 0, and at most one cell of each size is worse. "average precision" is the mean difference
of the whole order on 1,000 rows of 20 normal features with 15 % positives: at least -.01.

tuned: every linear model with its penalty tuned for the depth by three inner folds, balanced class
weights among the candidates, and boosted trees with the defaults, against ours with the defaults,
on the same splits. "best" is the linear model with the largest mean; the intervals are of paired
differences over the seeds, 95 %, and "behind" is significant after Holm's correction. Fits to more
than 40,000 rows are to as many drawn rows, ours too.

fit: a fit with the defaults against LogisticRegression, on the training part of seed 0.

lists: fits over queries and over rows of a matrix y, against LogisticRegression.

passes: from zeros, on the training part of cover. A pass is a difference of
two fits, by the passes that one has more, so that what a fit sets up does not count; it is compared
with ``X @ w``. Times of 25 passes include the setting up.

cutting_plane: "svmperf" for comparison, and how far it gets.
"""

from collections import defaultdict

import numpy as np
from sklearn.base import clone

from lowrank_rank import PrecisionAtKPerceptron

from ._binary import BASELINES, DEPTHS, binary_sets, standardised_split
from ._common import print_table
from ._top_small import small_part
from ._top_times import cutting_plane_part, fit_part, lists_part, passes_part
from ._top_tuned import tuned_part

VARIANTS = {
    **{name: {"method": name} for name in ("avg", "max", "struct")},
    **{name: {"method": name} for name in ("sgd@k-avg", "perceptron@k-avg", "perceptron@k-max")},
    "from zeros": {"start": "zeros"},
}
ROUNDING = 1e-12


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--seeds", nargs=2, type=int, default=[0, 5], metavar=("FIRST", "END"), help="END excluded"
    )
    parser.add_argument("--variants", action="store_true", help="also ours with other settings")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--splits", type=int, default=10, help="of the part small")


def run(args):
    """Rows of the parts asked for."""
    if args.seeds[1] - args.seeds[0] < 2:
        raise SystemExit(f"--seeds {args.seeds[0]} {args.seeds[1]}: a standard error needs two.")
    sets = binary_sets(args.data, args.tiny)
    return [{"table": part, **row} for part in args.part for row in PARTS[part](sets, args)]


def quality_part(sets, args):
    """One row for each set and depth, then how often each of ours missed."""
    seeds = range(*args.seeds)
    ours = {"ours": {}, **(VARIANTS if args.variants else {})}
    rows = []
    for name, load in sets.items():
        values = precision_values(*load(), seeds, ours)
        rows += [{"set": name, **quality_row(depth, values, ours)} for depth in DEPTHS]
    print_table(f"Test precision at the top, mean of seeds {seeds[0]}-{seeds[-1]}", rows)
    counts = [count_row(model, rows) for model in ours]
    print_table("How often below the best of the four by more than se, and above it", counts)
    return rows + counts


def precision_values(X, y, seeds, ours):
    """Test precision of all models, lists over the seeds by (depth, model)."""
    values = defaultdict(list)
    for seed in seeds:
        X_train, y_train, X_test, y_test = standardised_split(X, y, seed)
        fitted = {
            (depth, name): PrecisionAtKPerceptron(
                target_loss=depth, random_state=seed, **params
            ).fit(X_train, y_train)
            for depth in DEPTHS
            for name, params in ours.items()
        }
        for name, baseline in BASELINES.items():
            model = clone(baseline).fit(X_train, y_train)  # once, for all three depths
            fitted.update({(depth, name): model for depth in DEPTHS})
        for (depth, name), model in fitted.items():
            precision = DEPTHS[depth].measure(y_test, model.decision_function(X_test))
            values[depth, name].append(precision)
    return values


def quality_row(depth, values, ours):
    """Means over the seeds, the best of the baselines and where ours stands to it."""
    means = {name: np.mean(values[depth, name]) for name in (*BASELINES, *ours)}
    name = max(BASELINES, key=means.get)
    of_best = values[depth, name]
    best, se = means[name], np.std(of_best, ddof=1) / np.sqrt(len(of_best))
    return {
        "depth": depth,
        **{baseline: means[baseline] for baseline in BASELINES},
        "best": best,
        "se": se,
        "ours": means["ours"],
        "verdict": verdict(means["ours"], best, se),
        **{variant: means[variant] for variant in ours if variant != "ours"},
    }


def verdict(value, best, se):
    """Whether a mean is above the best of the baselines, or within its standard error.

    Means of the same precisions in another order differ by rounding: that is equality.
    """
    if value > best + ROUNDING:
        return "better"
    return "ok" if value >= best - se - ROUNDING else "MISSED"


def count_row(model, rows):
    """Verdicts of one of ours over all sets and depths."""
    verdicts = [verdict(row[model], row["best"], row["se"]) for row in rows]
    return {
        "model": model,
        "MISSED": verdicts.count("MISSED"),
        "better": verdicts.count("better"),
        "of": len(verdicts),
        "mean difference to best": np.mean([row[model] - row["best"] for row in rows]),
    }


PARTS = {
    "quality": quality_part,
    "small": small_part,
    "tuned": tuned_part,
    "fit": fit_part,
    "lists": lists_part,
    "passes": passes_part,
    "cutting_plane": cutting_plane_part,
}
