"""Code of users that a type checker must accept."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval, load_qrels
from lowrank_rank.evaluation import compare_rankers, mean_intervals, per_query
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_train_test_split
from lowrank_rank.target_losses import NDCG
from lowrank_rank.votes import bradley_terry

frame: pd.DataFrame = load_digits_retrieval(as_frame=True).frame
train, test = query_train_test_split(frame, qid="qid")
X, y, qid = frame.drop(columns=["qid", "target"]), frame["target"], frame["qid"]

of_frames = LowRankSurrogateRanker(target_loss="ndcg@10").fit(X, y, qid=qid)
of_arrays = HistGradientBoostingRanker(target_loss=NDCG(k=5)).fit(
    X.to_numpy(), y.to_numpy(), qid=qid.to_numpy(), sample_weight=np.ones(len(y))
)
of_lists = LowRankSurrogateRanker().fit([[0.0], [1.0]], [0, 1], qid=["a", "a"])
of_sparse = LowRankSurrogateRanker().fit(sparse.csr_matrix(X), y, qid=qid)
of_targets = StackingRanker(cv=3).fit(X, ranking_target(y, qid))
of_times = of_frames.fit(X, ranking_target(y, qid, time=pd.to_datetime(qid)))
top = PrecisionAtKPerceptron().fit(X, y)
pipeline = make_pipeline(StandardScaler(), of_frames)

scores: np.ndarray = of_frames.predict(X)
ranks: np.ndarray = of_frames.rank(X, qid=qid)
value: float = of_frames.score(X, y, qid=qid)
ndcg = ndcg_score(y, scores, qid=qid, k=10)
intervals = mean_intervals(per_query(y, scores, qid=qid))
low: float = float(intervals.interval[0, 0])
found = compare_rankers(y, {"a": scores, "b": of_arrays}, X=X, qid=qid)
means: np.ndarray = found.mean
scorer = make_ranking_scorer(["ndcg@10", "map"])
board = bradley_terry([["a", "b"], ["b", "a"]])
chance: float = board.probability("a", "b")
qrels = load_qrels("qrels.txt")
