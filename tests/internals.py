# ruff: noqa: F401
"""Private names that tests reach, in one place; every other test uses public names."""

from lowrank_rank._base import linear_scores
from lowrank_rank._blocks import Blocks
from lowrank_rank._tables import TableMixin
from lowrank_rank.datasets import _trec
from lowrank_rank.decoders._average_precision import (
    average_precision_bound,
    average_precision_value,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
)
from lowrank_rank.decoders._decoded import Decoded, decode_assignment, decode_sort
from lowrank_rank.decoders.feedback_arcs._decoders import (
    PD_DECODERS,
    decode_pd_borda,
    decode_pd_local_search,
    pd_decoder,
)
from lowrank_rank.decoders.feedback_arcs._exact import packed_cycles
from lowrank_rank.decoders.feedback_arcs._graphs import (
    differences_from_matrices,
    matrices_from_differences,
    net_preferences,
    net_scores,
    preference_cost,
)
from lowrank_rank.evaluation import _paired_differences
from lowrank_rank.evaluation._betting import bets_on, betting, gains
from lowrank_rank.evaluation._bounds import wilson
from lowrank_rank.evaluation._mean_intervals import folds
from lowrank_rank.fitting._any_regressor import (
    MeansOfKnown,
    RegressorModel,
    round_significant,
    seeded,
    weight_parameters,
    wraps,
)
from lowrank_rank.fitting._cutting_plane import cutting_plane, simplex_program
from lowrank_rank.fitting._early_stopping import hold_out, measure_on
from lowrank_rank.fitting._encoding import Encoding, encode_items
from lowrank_rank.fitting._linear_problem import LinearProblem, lbfgs
from lowrank_rank.fitting._list_trees import fit_list_trees
from lowrank_rank.fitting._logistic import fit_logistic, standardised
from lowrank_rank.fitting._pairs import PairSums, dense_grades
from lowrank_rank.fitting._ridge import fit_lsqr
from lowrank_rank.fitting._statistics import Moments, SecondMoments, group_means
from lowrank_rank.lists._lists import RankingLists, bounded_blocks, digest
from lowrank_rank.lists._ranks import (
    mid_fractions,
    mid_ranks,
    ranks_from_scores,
    threshold_between,
)
from lowrank_rank.low_rank._calibrated_forest import CalibratedForest
from lowrank_rank.low_rank._calibration import all_ranks
from lowrank_rank.order_preserving import _lambdarank, _surrogates
from lowrank_rank.order_preserving._bounds import C_phi
from lowrank_rank.order_preserving._lambdarank import LambdaRank
from lowrank_rank.order_preserving._list_loss import ListLoss, LossesInTurn
from lowrank_rank.precision_at_top._batches import (
    Batch,
    make_batches,
    number_of_batches,
    places_at_top,
    resolve_top_loss,
)
from lowrank_rank.precision_at_top._steps import (
    SOLVERS,
    Trajectory,
    run_pass,
    start_weights,
)
from lowrank_rank.precision_at_top._surrogates import (
    PERCEPTRONS,
    PRECISION_SURROGATES,
)
from lowrank_rank.preferences._pairwise_dag import label_scores
from lowrank_rank.structured._chains import (
    ChainProblem,
    chain_marginals,
    transition_counts,
    viterbi,
)
from lowrank_rank.structured._hinge_estimator import row_codes
from lowrank_rank.structured._hinges import (
    ClassHinge,
    ListHinge,
    resolve_hinge,
)
from lowrank_rank.structured._solvers import Best, HingeProblem, published_sgd
from lowrank_rank.target_losses._classes import BalancedAccuracy, Hamming
from lowrank_rank.target_losses._names import (
    TARGET_LOSSES,
    names_of,
    resolve_measure,
    resolve_target_loss,
)
from lowrank_rank.target_losses._pairwise import KendallTau
from lowrank_rank.target_losses._positional import (
    GainAtK,
    PrecisionAtShare,
    SpearmanRho,
)
from lowrank_rank.validation._arrays import mean_square
from lowrank_rank.validation._check import Check, InputError
from lowrank_rank.validation._classes import (
    read_binary_labels,
    read_label_sets,
)
from lowrank_rank.validation._columns import kind_of_entries
from lowrank_rank.validation._findings import found, reporting, reports
from lowrank_rank.validation._ids import read_lists
from lowrank_rank.validation._progress import (
    Progress,
    counted,
    following,
    following_fit,
)
from lowrank_rank.validation._read import Data
from lowrank_rank.validation._rules import RULES
from lowrank_rank.votes._consensus import rank_totals
from lowrank_rank.votes._votes import Votes
