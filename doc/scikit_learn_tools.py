"""Which tools of scikit-learn work with which estimator, beside searches and meta-estimators.

The guide shows this table, and ``tests/test_scikit_learn_tools.py`` tries every entry of it, on the
oldest and the newest scikit-learn.
"""

#: The columns, in the words of the guide.
TOOLS = {
    "cross_val_predict": "``cross_val_predict``",
    "permutation_test_score": "``permutation_test_score``",
    "FeatureUnion": "``FeatureUnion`` before it",
    "set_output": 'in a Pipeline with ``set_output(transform="pandas")``',
    "FrozenEstimator": "``FrozenEstimator``",
    "callbacks": "callbacks of a search around it (1.9)",
    "own callbacks": "callbacks of its own (1.9)",
}
ESTIMATORS = [
    "HistGradientBoostingRanker",
    "StackingRanker",
    "WrappedRanker",
    "OrderPreservingRegressor",
    "LowRankSurrogateRanker",
    "PairwiseDAGRanker",
    "PrecisionAtKPerceptron",
    "LowRankSurrogateClassifier",
    "LowRankSurrogateMultilabelClassifier",
    "structured.StructuredHingeRanker",
    "structured.StructuredHingeClassifier",
    "structured.StructuredHingeBinaryClassifier",
    "structured.StructuredHingeSequenceClassifier",
]
SEQUENCES = ESTIMATORS[-1]
#: Why a tool does not work, by estimator and tool; the rest works.
WHY_NOT = {(name, "own callbacks"): "has none: see ``verbose``" for name in ESTIMATORS}
WHY_NOT["WrappedRanker", "own callbacks"] = "has none"
WHY_NOT[SEQUENCES, "cross_val_predict"] = "raises: its ``predict`` gets no ``qid``"
