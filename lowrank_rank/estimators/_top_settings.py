"""The parameters of `PrecisionAtKPerceptron`, checked and resolved."""

from dataclasses import dataclass

from ..solvers import Descent, Rule
from ..surrogates import PRECISION_SURROGATES
from ..target_losses import TargetLoss
from ._top_problem import Top, resolve_top
from ._validation import check_count, check_flag, check_number, check_option

#: surrogate and start that "auto" stands for, by solver and update.
DEFAULTS = {
    ("mini_batch", "sgd"): ("ramp", "least_squares"),
    ("mini_batch", "perceptron"): ("avg", "zeros"),
    ("cutting_plane", "sgd"): ("struct", "zeros"),
}


@dataclass(frozen=True)
class Settings:
    """What fit does, all names resolved."""

    loss: TargetLoss
    top: Top
    start: str
    descent: Descent
    solver: str
    batch_size: int | str
    max_iter: int
    tol: float | None
    patience: int
    average: bool
    shuffle: bool
    validation_fraction: float | None
    n_runs: int
    n_jobs: int | None


def takes_streams(estimator):
    """Whether the settings allow `partial_fit`, which can neither hold out rows nor see all."""
    if estimator.solver == "cutting_plane" or estimator.early_stopping:
        raise AttributeError(
            "partial_fit takes mini-batch steps on the rows of each call: it is there neither with "
            "solver='cutting_plane' nor with early_stopping=True."
        )
    return True


def read_settings(estimator):
    """The settings of an estimator; raises ValueError for a parameter out of range."""
    solver = check_option("solver", estimator.solver, ("mini_batch", "cutting_plane"))
    loss, top = resolve_top(estimator.target_loss)
    rule, start = _rule_and_start(estimator, solver)
    descent = Descent(
        rule,
        check_number("eta0", estimator.eta0, minimum=0, strict=True),
        check_number("alpha", estimator.alpha, minimum=0, strict=solver == "cutting_plane"),
    )
    return Settings(
        loss=loss,
        top=top,
        start=start,
        descent=descent,
        solver=solver,
        batch_size=_batch_size(estimator.batch_size),
        max_iter=check_count("max_iter", estimator.max_iter),
        tol=None if estimator.tol is None else check_number("tol", estimator.tol, minimum=0),
        patience=check_count("n_iter_no_change", estimator.n_iter_no_change),
        average=check_flag("average", estimator.average),
        shuffle=check_flag("shuffle", estimator.shuffle),
        validation_fraction=_validation_fraction(estimator),
        n_runs=check_count("n_runs", estimator.n_runs),
        n_jobs=estimator.n_jobs,
    )


def _rule_and_start(estimator, solver):
    update = check_option("update", estimator.update, ("sgd", "perceptron"))
    if (solver, update) not in DEFAULTS:
        raise ValueError("solver='cutting_plane' minimises a surrogate: take update='sgd' with it.")
    if solver == "cutting_plane":
        _refuse_steps_settings(estimator)
    surrogate, start = DEFAULTS[solver, update]
    wanted = check_option("surrogate", estimator.surrogate, ("auto", *PRECISION_SURROGATES))
    surrogate = surrogate if wanted == "auto" else wanted
    if surrogate == "struct":  # as published; what it prefers may be worse than any start
        start = "zeros"
    wanted = check_option("start", estimator.start, ("auto", "least_squares", "zeros"))
    start = start if wanted == "auto" else wanted
    form = PRECISION_SURROGATES[surrogate]
    if update == "perceptron" and form.perceptron is None:
        raise ValueError(
            f"There is no perceptron on {surrogate!r}: take surrogate='avg' or 'max', or "
            "update='sgd'."
        )
    return Rule(form, update == "perceptron"), start


def _refuse_steps_settings(estimator):
    """Cutting planes are for struct, begin at zeros, once, on all rows: refuse anything else."""
    only = {
        "surrogate": ("auto", "struct"),
        "start": ("auto", "zeros"),
        "early_stopping": (False,),
        "warm_start": (False,),
        "n_runs": (1,),
    }
    for name, values in only.items():
        if getattr(estimator, name) not in values:
            raise ValueError(
                f"solver='cutting_plane' takes {name}={values[-1]!r}, got "
                f"{getattr(estimator, name)!r}: the rest is for solver='mini_batch'."
            )


def _batch_size(value):
    return value if value == "auto" else check_count("batch_size", value)


def _validation_fraction(estimator):
    if not check_flag("early_stopping", estimator.early_stopping):
        return None
    fraction = check_number(
        "validation_fraction", estimator.validation_fraction, minimum=0, strict=True
    )
    if fraction >= 1:
        raise ValueError(f"validation_fraction must lie between 0 and 1, got {fraction:g}.")
    return fraction
