"""Target losses of sets of labels, and of very many labels.

Run it on one thread, OMP_NUM_THREADS=1.

multilabel: the F1 of each row of `LowRankSurrogateMultilabelClassifier` with its defaults, against
plain ways with the same features and the same penalty. "gain" is the F1 of ours minus that of the
row, paired over the rows of the data, with a 95 % bootstrap interval. Five folds; those of emotions
are repeated four times, and the values of a row averaged. The controls are logistic regressions of
each label (i), or of each label and size (ii):

* "above 1/2": labels of a probability above 1/2 (i).
* "above .2": ``OneVsRestClassifier(LogisticRegression())``, labels of a probability above .2.
* "one threshold": one threshold for all labels with the largest F1 on five inner folds (i).
* "one threshold, of sizes": the same on probabilities of labels that are summed over sizes (ii).
* "threshold per label": `TunedThresholdClassifierCV(scoring="f1")` of each label (i).
* "independent": the exact decoder, as if the labels were independent given the features (i).

Three sets are generated. "documents" are those of scikit-learn's `make_multilabel_classification`.
Rows of "topics" have one of four topics of one, two, four and five labels, and 3 % of the labels
are flipped. "words" are 0/1 words, and their labels are independent. The time is that of a fit, in
units of the fit of (i).

many_labels: LowRankSurrogateRanker with sparse y against Ridge(solver="cholesky") with dense y,
time and memory in processes of their own; 100,000 labels; a long tail of labels.
"""

from ._many_labels import run as many_labels_part
from ._multilabel import multilabel_part


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=3, help="of each time")


def run(args):
    """Rows of the parts asked for."""
    return [{"part": part, **row} for part in args.part for row in PARTS[part](args)]


#: By name: a function of the arguments that returns its rows.
PARTS = {"multilabel": multilabel_part, "many_labels": many_labels_part}
