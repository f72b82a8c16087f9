"""From rows to coefficients: scaling, penalties, regression and solvers."""
