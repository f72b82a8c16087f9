"""The regression of an encoded batch that the rankers share."""

from sklearn.utils.validation import check_consistent_length

from .._lists import split_target
from ._regression import predict_regressors
from ._ridge import LinearFit, chosen_solver, iterate, solve, statistics_of
from ._surrogate import SurrogateMixin
from ._validation import check_judged, check_target, check_weights, lists_of


class EncodedRegressionMixin(SurrogateMixin):
    """Ridge, or any regressor, on the targets of an `EncodedBatch`.

    The estimator has the parameters of `SurrogateMixin` and `alpha`, `solver`, `tol`,
    `max_iter` and `verbose`; ``n_items_`` is set before.
    """

    def _read(self, X, y, qid, sample_weight, loss, reset=True, whole=True):
        """Checked X, y, lists and row weights of a batch, `whole` if no other one follows."""
        y, qid = split_target(y, qid)
        y = check_target(y, self)
        X = self._validate_X(X, reset=reset)
        check_consistent_length(X, y)
        lists = lists_of(y, qid)
        weights = check_weights(sample_weight, len(y))
        check_judged(y, loss, weights if whole else None)
        return X, y, lists, weights

    def _regress(self, batch, turns=1):
        if self.estimator is None:
            self._fit_ridge(batch)
        else:
            self._fit_estimator(batch, turns if batch.codes is not None else 1)

    def _fit_ridge(self, batch):
        solver = chosen_solver(self.solver, batch)
        self._say(
            f"ridge on {batch.X.shape} by solver {solver!r}, {batch.targets.shape[1]} target(s)"
        )
        if solver == "lsqr":
            self._set_linear(iterate(batch, self.alpha, self.tol, self.max_iter))
            return
        self._totals, self._statistics = batch.totals, statistics_of(batch)
        self._set_linear(solve(self._statistics, self._totals, self.alpha))

    def _set_linear(self, fit):
        documents = self.n_items_ is None
        self.coef_ = fit.coef[0] if documents else fit.coef
        self.intercept_ = float(fit.intercept[0]) if documents else fit.intercept
        self.n_iter_ = fit.n_iter
        if fit.solver is not None:
            self.solver_ = fit.solver

    def _forget_statistics(self):
        """Drop what only a partial_fit would go on from."""
        for name in ("_statistics", "_totals"):
            vars(self).pop(name, None)

    def _fit_estimator(self, batch, turns):
        targets = batch.scaled_targets()
        weights = batch.weights * batch.totals.weight_factor
        for turn in range(1, turns + 1):
            self._say(
                f"{type(self.estimator).__name__} on {batch.X.shape}, "
                f"{targets.shape[1]} target(s), pass {turn} of {turns}"
            )
            linear = self._fit_regressors(batch.X, targets, weights)
            if turn < turns:
                targets = batch.scaled_targets(predict_regressors(self.estimators_, batch.X))
        self.n_iter_ = turns
        if linear is not None:
            self._set_linear(LinearFit(*linear, n_iter=turns))

    def _say(self, message):
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")
