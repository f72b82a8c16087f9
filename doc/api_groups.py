"""The API reference by task: groups (a page each), their sections, and the public names in them.

A group is stable or provisional: CONTRIBUTING.md says what that promises, and how a name moves.
Names are relative to ``lowrank_rank``. ``"plotting.*"`` stands for all names of a module that no
other section lists. The build fails if a public name or a result is in no section, or in two.
"""

from typing import NamedTuple


class Section(NamedTuple):
    """A table of names, below a title that links to a page of the user guide."""

    title: str
    guide: str  # in doc/user_guide, or a path from doc
    names: tuple[str, ...]


class Group(NamedTuple):
    """A page of the reference."""

    page: str
    title: str
    text: str
    sections: tuple[Section, ...]
    stable: bool = True


#: Public modules that ``import lowrank_rank`` does not import.
OPTIONAL_MODULES = ("dask",)

#: Results that public functions return, and classes that the name of a measure makes: a
#: page each, but no public name.
RESULTS = (
    "target_losses._positional.GainAtK",
    "target_losses._positional.PrecisionAtShare",
    "target_losses._positional.RecallAtShare",
    "target_losses._positional.SpearmanRho",
    "target_losses._pairwise.KendallTau",
    "target_losses._cascade.ReciprocalRank",
    "target_losses._cascade.SuccessAtK",
    "target_losses._cascade.ExpectedReciprocalRank",
    "votes._consensus.ConsensusRanking",
    "votes._consensus.RankIntervals",
    "votes._duels.BradleyTerry",
    "evaluation._comparison.RankerComparison",
    "evaluation._mean_intervals.MeanIntervals",
    "decoders._decoded.Decoded",
    "model_selection.QueryImportances",
    "low_rank._calibration.CalibrationReport",
    "low_rank._calibration.CalibrationCheck",
    "order_preserving._bounds.OrderCheck",
    "precision_at_top._surrogates.PrecisionMargins",
    "preferences._noise.NoiseReport",
)

GROUPS = (
    Group(
        "estimators",
        "Estimators by task",
        "Models with ``fit`` and ``predict``, and functions that make one order of many votes.",
        (
            Section(
                "Rank documents of queries, or fixed items",
                "search_results",
                (
                    "LowRankSurrogateRanker",
                    "HistGradientBoostingRanker",
                    "OrderPreservingRegressor",
                ),
            ),
            Section(
                "Find positives in a budget a day",
                "budget",
                ("PrecisionAtKPerceptron",),
            ),
            Section(
                "One order of many votes, leaderboards of duels",
                "ballots",
                (
                    "votes.consensus_ranking",
                    "votes.bradley_terry",
                    "votes._consensus.ConsensusRanking",
                    "votes._duels.BradleyTerry",
                    "votes._consensus.RankIntervals",
                ),
            ),
            Section(
                "Learn from judges and pairs", "preferences", ("PairwiseDAGRanker",)
            ),
            Section(
                "Classes with costs, ordinal classes, abstention",
                "costs",
                ("LowRankSurrogateClassifier",),
            ),
            Section(
                "Sets of labels by the F-measure",
                "multilabel",
                ("LowRankSurrogateMultilabelClassifier",),
            ),
            Section("Join models of parts of the rows", "scale", ("merge",)),
        ),
    ),
    Group(
        "meta_estimators",
        "Stacks, LightGBM and other models as rankers",
        "Rankers that are made of other models.",
        (
            Section("Combine rankers", "which_model", ("StackingRanker",)),
            Section("LightGBM, XGBoost, CatBoost", "lightgbm", ("WrappedRanker",)),
            Section(
                "Objectives and metrics of LightGBM and XGBoost",
                "theory",
                ("boosting.boosting_objective", "boosting.boosting_metric"),
            ),
        ),
    ),
    Group(
        "metrics",
        "Metrics and scorers",
        "Measures of lists, scorers for scikit-learn, and comparisons with confidence intervals.",
        (
            Section(
                "Scorers",
                "model_selection",
                ("make_ranking_scorer", "metrics.get_ranking_scorer_names"),
            ),
            Section(
                "Measures of lists",
                "data",
                (
                    "metrics.measure_score",
                    "metrics.ndcg_score",
                ),
            ),
            Section(
                "Comparisons, confidence intervals, tables per query, TREC runs",
                "evaluation",
                (
                    "evaluation.compare_rankers",
                    "evaluation.compare_runs",
                    "evaluation.compare_values",
                    "evaluation.compare_judged",
                    "evaluation.compare_judged_runs",
                    "evaluation._comparison.RankerComparison",
                    "evaluation.per_query",
                    "evaluation.evaluate_run",
                    "evaluation.mean_intervals",
                    "evaluation.judged_mean_intervals",
                    "evaluation._mean_intervals.MeanIntervals",
                ),
            ),
        ),
    ),
    Group(
        "splits",
        "Model selection",
        "Query ids, splits, learning curves and importances that treat queries as units.",
        (
            Section(
                "Query ids", "model_selection", ("ranking_target", "CutQueriesWarning")
            ),
            Section(
                "Practice that gives wrong numbers",
                "fool_yourself",
                ("SuspiciousDataWarning",),
            ),
            Section(
                "Splits, learning curves, importances, cuts of lists",
                "evaluation",
                ("model_selection.*", "model_selection.QueryImportances"),
            ),
        ),
    ),
    Group(
        "losses",
        "Target losses",
        "Measures as objects, for ``target_loss=`` and ``make_ranking_scorer``. Their names are "
        "listed in :doc:`/user_guide/target_losses`.",
        (
            Section(
                "Losses of orders",
                "target_losses",
                (
                    "target_losses.NDCG",
                    "target_losses.DCG",
                    "target_losses.PrecisionAtK",
                    "target_losses.RecallAtK",
                    "target_losses.MeanAveragePrecision",
                    "target_losses.AUC",
                    "target_losses.PairwiseDisagreement",
                    "target_losses.ExpectedRankUtility",
                ),
            ),
            Section("Cost matrices", "costs", ("target_losses.MatrixLoss",)),
            Section(
                "F-measure of sets of labels", "multilabel", ("target_losses.FBeta",)
            ),
            Section(
                "Losses and measures that a name says in full",
                "target_losses",
                (
                    "target_losses._positional.GainAtK",
                    "target_losses._positional.PrecisionAtShare",
                    "target_losses._positional.RecallAtShare",
                    "target_losses._pairwise.KendallTau",
                    "target_losses._positional.SpearmanRho",
                    "target_losses._cascade.ReciprocalRank",
                    "target_losses._cascade.SuccessAtK",
                    "target_losses._cascade.ExpectedReciprocalRank",
                ),
            ),
        ),
    ),
    Group(
        "datasets",
        "Datasets",
        "Files of rankings, and small real data sets.",
        (
            Section(
                "Files: Parquet, LETOR, TREC, PrefLib",
                "data",
                (
                    "datasets.iter_lists",
                    "datasets.load_letor",
                    "datasets.dump_letor",
                    "datasets.load_run",
                    "datasets.dump_run",
                    "datasets.load_qrels",
                    "datasets.dump_qrels",
                    "datasets.runs_to_features",
                    "votes.load_preflib",
                    "votes.grades_from_orders",
                ),
            ),
            Section(
                "Real data sets",
                "data",
                ("datasets.load_digits_retrieval", "datasets.load_wine_tasting"),
            ),
        ),
    ),
    Group(
        "structured",
        "Structured hinges",
        "Linear models of chapter 17 of Shalev-Shwartz and Ben-David (2014).",
        (
            Section(
                "RankSVM and other hinges of orders",
                "theory",
                ("structured.StructuredHingeRanker",),
            ),
            Section(
                "Classes with costs",
                "theory",
                ("structured.StructuredHingeClassifier",),
            ),
            Section(
                "Two classes by F1 or another measure of all rows",
                "theory",
                ("structured.StructuredHingeBinaryClassifier",),
            ),
            Section(
                "Sequences", "theory", ("structured.StructuredHingeSequenceClassifier",)
            ),
        ),
        stable=False,
    ),
    Group(
        "decoders",
        "Decoders",
        "Functions from surrogate vectors to orders, and bounds that prove an order the best.",
        (
            Section(
                "Preferences: Kemeny orders",
                "target_losses",
                (
                    "decoders.decode_pd_exact",
                    "decoders.decode_pd_dag",
                ),
            ),
            Section(
                "Orders with values and bounds",
                "target_losses",
                ("decoders._decoded.Decoded",),
            ),
        ),
        stable=False,
    ),
    Group(
        "theory",
        "Surrogates and calibration",
        "Values and gradients of surrogate losses, regret bounds and conditions of theorems.",
        (
            Section("Surrogates", "theory", ("surrogates.*",)),
            Section(
                "Calibration, regret bounds, margins",
                "theory",
                (
                    "calibration.*",
                    "low_rank._calibration.CalibrationReport",
                    "low_rank._calibration.CalibrationCheck",
                    "order_preserving._bounds.OrderCheck",
                    "precision_at_top._surrogates.PrecisionMargins",
                    "preferences._noise.NoiseReport",
                ),
            ),
        ),
        stable=False,
    ),
    Group(
        "generators",
        "Clicks and generated data",
        "Labels from clicks, and data with known truth.",
        (
            Section(
                "Clicks",
                "clicks",
                (
                    "clicks.utilities_from_clicks",
                    "clicks.propensities_from_clicks",
                    "clicks.make_clicks",
                ),
            ),
            Section(
                "Generators",
                "data",
                (
                    "datasets.make_ranking",
                    "datasets.make_label_ranking",
                    "datasets.make_preferences",
                    "datasets.make_duels",
                ),
            ),
        ),
        stable=False,
    ),
    Group(
        "plotting",
        "Plotting",
        "Displays as in scikit-learn: ``plot`` draws the data that the object holds.",
        (Section("Displays", "evaluation", ("plotting.*",)),),
        stable=False,
    ),
    Group(
        "dask",
        "Dask",
        'Estimators on a Dask cluster: ``pip install ".[dask]"`` from a checkout. Import the '
        "functions from ``lowrank_rank.dask``.",
        (Section("Functions of a cluster", "scale", ("dask.*",)),),
        stable=False,
    ),
    Group(
        "testing",
        "Your own losses",
        "Base classes of losses, and checks of your own losses, decoders and surrogates.",
        (
            Section("Base classes", "/extending", ("target_losses.*",)),
            Section("Checks", "/extending", ("testing.*",)),
        ),
        stable=False,
    ),
)
