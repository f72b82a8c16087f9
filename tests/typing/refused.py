"""Code of users with one error in each line below the imports, which a type checker must find."""

from lowrank_rank import HistGradientBoostingRanker, LowRankSurrogateRanker
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.votes import bradley_terry

LowRankSurrogateRanker().fit(1, [0, 1])
LowRankSurrogateRanker().fit([[0.0], [1.0]], object())
LowRankSurrogateRanker().fit([[0.0], [1.0]], [0, 1], qid=3.5)
LowRankSurrogateRanker().fit([[0.0], [1.0]], [0, 1], [0, 0])
LowRankSurrogateRanker(target_loss=10)
LowRankSurrogateRanker(alpha=[0.1])
HistGradientBoostingRanker(max_iter="many")
HistGradientBoostingRanker().predict(None)
ndcg_score([0, 1], 0.5)
ndcg_score([0, 1], [0.5, 1.0], k="ten")
bradley_terry([["a", "b"]], half_games="some")
