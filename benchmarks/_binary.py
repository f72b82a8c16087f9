"""What the benchmark of the top compares on: binary sets, depths and linear classifiers.

One set is generated and needs no file.
"""

import sys
from functools import partial

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.target_losses import PrecisionAtK, PrecisionAtShare

FILES = {
    "letter": "letter.scale.gz",  # 26 classes; 1 is the letter A
    "ijcnn1": "ijcnn1.trn.bz2",
    "a9a": "a9a.gz",
    "mammography": "mammography.npz",
    "cover": "cover.npz",
    "magic": "magic.npz",
}
BASELINES = {
    "logistic": LogisticRegression(max_iter=1000),
    "balanced": LogisticRegression(max_iter=1000, class_weight="balanced"),
    "svc": LinearSVC(),
    "ridge": RidgeClassifier(),
}
DEPTHS = {
    "precision@25%": PrecisionAtShare(share=0.25),
    "precision@50%": PrecisionAtShare(share=0.5),
    "prbep": PrecisionAtShare(share=1.0),
}
DEFAULT_DEPTH = PrecisionAtKPerceptron().target_loss


def load_binary(data, name):
    """Dense features of one of FILES, and 1 where its label is 1, else 0."""
    path = data / "binary" / FILES[name]
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            X, y = arrays["X"], arrays["y"].ravel()
    else:
        X, y = load_svmlight_file(str(path))
        X = X.toarray()
    return np.ascontiguousarray(X, dtype=float), (y == 1).astype(int)


def generate_binary(n_rows, n_features, share):
    """Normal features; a share of the rows, those of the highest noisy scores, is positive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    score = X @ rng.standard_normal(n_features) / np.sqrt(n_features)
    score += rng.standard_normal(n_rows)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


def binary_sets(data, tiny):
    """What loads each set, by name; a generated one alone where the files are not to be had."""
    if not tiny and (data / "binary").is_dir():
        return {name: partial(load_binary, data, name) for name in FILES}
    if not tiny:
        print(
            f"No folder binary in {data}: generated data only. Say where it is with --data.",
            file=sys.stderr,
        )
    return {"generated": partial(generate_binary, 1_000 if tiny else 20_000, 20, 0.1)}


def standardised_split(X, y, seed):
    """Stratified 70/30 split, features scaled as in the training part.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarray
    """
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), y_train, scaler.transform(X_test), y_test
