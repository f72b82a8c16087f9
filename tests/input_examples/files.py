"""Files of TREC, LETOR and PrefLib, with faults in their bytes and lines."""

import atexit
import bz2
import gzip
import shutil
import tempfile
from pathlib import Path

import numpy as np

from . import Example

#: The files of an example are written anew into this folder: messages have its name.
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

OPENERS = {".gz": gzip.open, ".bz2": bz2.open}


def written(name, text):
    """Write a file and return its path."""
    path = Path(FOLDER) / name
    for other in Path(FOLDER).iterdir():
        other.unlink() if other.is_file() else other.rmdir()
    with OPENERS.get(path.suffix, open)(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return {
        "path": path,
        "n_features": None,
        "dtype": np.float64,
        "zero_based": False,
    }


RUN = """\
q1 Q0 007 1 1.5 bm25
q1 Q0 d2 2 0.5 bm25
q2 Q0 NA 1 -3.25 bm25
"""
QRELS = """\
q1 0 007 2
q1 0 d2 0
q2 0 NA 1
"""
LETOR = """\
2 qid:1 1:0.5 3:2
0 qid:1 2:7 # one
1 qid:2 1:4
"""
VOTES = """\
# TITLE: A vote
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 7
# ALTERNATIVE NAME 1: a
# ALTERNATIVE NAME 2: b
# ALTERNATIVE NAME 3: c
5: 2,1,3
2: 3,2,1
"""
OLDER_VOTES = """\
3
1,a
2,b
3,c
7,7,2
5,2,1,3
2,3,2,1
"""


def run():
    return written("run.txt", RUN)


def packed_run():
    return written("run.txt.gz", RUN)


def run_in_bz2():
    return written("run.txt.bz2", RUN)


def qrels():
    return written("qrels.txt", QRELS)


def letor():
    return written("log.txt", LETOR)


def packed_letor():
    return written("log.txt.gz", LETOR)


def votes():
    return written("votes.soc", VOTES)


def older_votes():
    return written("votes.soc", OLDER_VOTES)


def rows():
    return {
        **written("old.txt", ""),
        "X": np.array([[0.5, 0.0, 2.0], [0.0, 7.0, 0.0], [4.0, 0.0, 0.0]]),
        "y": np.array([2.0, 0.0, 1.0]),
        "qid": np.array([1, 1, 2]),
    }


LOAD_RUN = "result = lowrank_rank.datasets.load_run(path)"
LOAD_QRELS = "result = lowrank_rank.datasets.load_qrels(path)"
EVALUATE = """
qrels = {"q1": {"d2": 1}, "q2": {"NA": 1, "x": 1}}
result = lowrank_rank.evaluation.evaluate_run(run=path, qrels=qrels)
"""
LOAD_LETOR = """
X, y, qid = lowrank_rank.datasets.load_letor(
    path, n_features=n_features, dtype=dtype, zero_based=zero_based)
result = numpy.column_stack([X.toarray(), y, qid])
"""
LOAD_PARTS = """
[(X, y, qid)] = lowrank_rank.datasets.load_letor(
    [path], n_features=n_features, dtype=dtype, zero_based=zero_based)
result = numpy.column_stack([X.toarray(), y, qid])
"""
BLOCKS = """
blocks = lowrank_rank.datasets.iter_lists(
    path, n_features=n_features, dtype=dtype, zero_based=zero_based)
[(X, y, qid)] = blocks
result = numpy.column_stack([X.toarray(), y, qid])
"""
LOAD_VOTES = """
votes = lowrank_rank.votes.load_preflib(path)
result = {
    "target": votes.target, "counts": votes.counts, "item_names": votes.item_names
}
"""
DUMP = """
ids = lowrank_rank.datasets.dump_letor(X, y, qid, path)
X, y, numbers = lowrank_rank.datasets.load_letor(path)
result = numpy.column_stack([X.toarray(), y, numbers])
"""


def replaced(old, new, encoding="utf-8"):
    """Code that replaces text in the file."""
    return (
        "text = path.read_text(encoding='utf-8')\n"
        f"assert {old!r} in text\n"
        f"path.write_bytes(text.replace({old!r}, {new!r}).encode({encoding!r}))"
    )


def packed(module, old, new, encoding="utf-8"):
    """Code that replaces text in a packed file."""
    return (
        f"import {module}\n"
        f"text = {module}.open(path, 'rt', encoding='utf-8').read()\n"
        f"assert {old!r} in text\n"
        f"text = text.replace({old!r}, {new!r})\n"
        f"path.write_bytes({module}.compress(text.encode({encoding!r})))"
    )


#: Another table than that of TREC, with the same queries, documents and values.
THREE_COLUMNS = """
separator, header, columns = {}
values = {{"q1 007": {}, "q1 d2": {}, "q2 NA": {}}}
lines = [header] if header else []
for ids, value in values.items():
    cells = dict(zip("qdv", [*ids.split(), str(value)]))
    lines.append(separator.join(cells[column] for column in columns))
path.write_text("".join(line + chr(10) for line in lines))
"""


def three_columns(separator, header, columns, *values):
    return THREE_COLUMNS.format((separator, header, columns), *values)


EXAMPLES = [
    # Bytes
    Example("damaged file", packed_run, "path.write_bytes(b'x')", LOAD_RUN),
    Example(
        "damaged file",
        packed_letor,
        "path.write_bytes(path.read_bytes()[:-12])",
        LOAD_LETOR,
    ),
    Example("UTF-16", run, replaced("bm25", "bm25", "utf-16"), LOAD_RUN, [""]),
    Example("UTF-16", qrels, replaced("q1", "q1", "utf-16"), LOAD_QRELS, [""]),
    Example("UTF-16", run, replaced("bm25", "bm25", "utf-16"), EVALUATE, [""]),
    Example("UTF-16", packed_run, packed("gzip", "q1", "q1", "utf-16"), LOAD_RUN, [""]),
    Example("UTF-16", run_in_bz2, packed("bz2", "q1", "q1", "utf-16"), LOAD_RUN, [""]),
    Example("UTF-16", letor, replaced("qid", "qid", "utf-16"), LOAD_LETOR, [""]),
    Example("UTF-16", letor, replaced("qid", "qid", "utf-16"), BLOCKS, [""]),
    Example("UTF-16", votes, replaced("5", "5", "utf-16"), LOAD_VOTES, [""]),
    Example(
        "long line",
        run,
        "path.write_text(path.read_text() + 'q' * (2**26 + 1))",
        LOAD_RUN,
    ),
    Example("carriage return", run, replaced("\n", "\r"), LOAD_RUN, [""]),
    Example("carriage return", letor, replaced("\n", "\r"), LOAD_LETOR, [""]),
    Example("carriage return", letor, replaced("2\n", "2\r"), LOAD_PARTS, [""]),
    Example("carriage return", packed_run, packed("gzip", "\n", "\r"), LOAD_RUN, [""]),
    # TREC
    Example(
        "encoding of TREC lines",
        run,
        replaced("d2", "dä", "cp1252"),
        LOAD_RUN,
        [replaced("d2", "dä")],
    ),
    Example(
        "encoding of TREC lines",
        qrels,
        replaced("q1 0 d2", "q1 0 d“2”", "cp1252"),
        LOAD_QRELS,
        [replaced("q1 0 d2", "q1 0 d“2”")],
    ),
    *[
        Example(
            "table of three columns as TREC file",
            run,
            three_columns(*table, 1.5, 0.5, -3.25),
            LOAD_RUN,
            [""],
        )
        for table in (
            ("\t", "", "qdv"),
            (",", "qid,docno,score", "qdv"),
            (",", "doc_id,Score,query_id", "dvq"),
            (" ", "", "qdv"),
        )
    ],
    *[
        Example(
            "table of three columns as TREC file",
            qrels,
            three_columns(*table, 2, 0, 1),
            LOAD_QRELS,
            [""],
        )
        for table in (
            ("\t", "query-id\tcorpus-id\tscore", "qdv"),
            (",", "label,topic,document", "vqd"),
            (",", "", "qdv"),
        )
    ],
    Example(
        "header of TREC file",
        run,
        "path.write_text('query Q doc rank score tag\\n' + path.read_text())",
        LOAD_RUN,
        [""],
    ),
    Example(
        "header of TREC file",
        packed_run,
        packed("gzip", "q1 Q0 007", "query Q doc rank score tag\nq1 Q0 007"),
        LOAD_RUN,
        [""],
    ),
    Example("run without tag", run, replaced(" bm25", ""), LOAD_RUN, [""]),
    Example("run without tag", run, replaced("1.5 bm25", "1.5"), EVALUATE, [""]),
    Example("number of words", run, replaced("d2", "d 2"), LOAD_RUN),
    Example("number of words", qrels, replaced(" 0 007", ""), LOAD_QRELS),
    Example(
        "whole floats in qrels",
        qrels,
        "path.write_text('q1 0 007 2.0\\nq1 0 d2 0.0\\nq2 0 NA 1.0\\n')",
        LOAD_QRELS,
        [""],
    ),
    Example("value of TREC line", run, replaced("0.5", "nan"), LOAD_RUN),
    Example("value of TREC line", run, replaced("0.5", "1_0"), LOAD_RUN),
    Example("value of TREC line", run, replaced("0.5", "0,5"), LOAD_RUN),
    Example("value of TREC line", qrels, replaced("007 2", "007 0.5"), LOAD_QRELS),
    Example("value of TREC line", qrels, replaced("007 2", "007 1e99"), LOAD_QRELS),
    Example("document twice in TREC file", run, replaced("d2", "007"), LOAD_RUN),
    # LETOR
    Example("line without qid", letor, replaced("0 qid:1", "0"), LOAD_LETOR),
    Example("underscore in number", letor, replaced("2:7", "2:7_0"), LOAD_LETOR),
    Example("underscore in number", letor, replaced("2 qid:1", "2_0 qid:1"), BLOCKS),
    Example(
        "qid of text in file",
        letor,
        "path.write_text(path.read_text().replace(':1 1', ':a:1 1')"
        ".replace('qid:1 ', 'qid:a:1 ').replace('qid:2', 'qid:b_2'))",
        LOAD_LETOR,
        [
            "path.write_text('2 qid:0 1:0.5 3:2\\n0 qid:0 2:7\\n1 qid:1 1:4\\n')",
        ],
    ),
    Example(
        "qid of text in file",
        packed_letor,
        packed("gzip", "qid:2", "qid:b"),
        BLOCKS,
        [
            packed("gzip", "qid:1", "qid:0") + "\n" + packed("gzip", "qid:2", "qid:1"),
        ],
    ),
    *[
        Example(
            "feature 0",
            letor,
            "path.write_text('2 qid:1 0:0.5 2:2\\n0 qid:1 1:7\\n1 qid:2 0:4\\n')",
            call,
            [""],
        )
        for call in (LOAD_LETOR, LOAD_PARTS, BLOCKS)
    ],
    Example("entry of LETOR line", letor, replaced("2:7", "7"), LOAD_LETOR),
    Example("entry of LETOR line", letor, replaced("2:7", "f2:7"), LOAD_LETOR),
    *[
        Example(
            "text as value of feature",
            letor,
            replaced("2:7", f"2:{missing}"),
            LOAD_LETOR,
            [replaced("2:7", "2:nan")],
        )
        for missing in ("NA", "?", "", "null")
    ],
    Example("text as value of feature", letor, replaced("2:7", "2:x"), LOAD_LETOR),
    Example(
        "infinite value in file",
        letor,
        replaced("2:7", "2:1e99") + "; dtype = numpy.float32",
        LOAD_LETOR,
        [replaced("2:7", "2:1e99")],
    ),
    Example("infinite value in file", letor, replaced("2:7", "2:inf"), LOAD_LETOR),
    Example("LETOR line", letor, replaced("1:0.5 3:2", "3:2 1:0.5"), LOAD_LETOR),
    *[
        Example("feature beyond n_features", letor, "n_features = 2", call, [""])
        for call in (LOAD_LETOR, LOAD_PARTS, BLOCKS)
    ],
    *[
        Example("value beyond dtype", letor, "dtype = numpy.int64", call, [""])
        for call in (LOAD_LETOR, LOAD_PARTS, BLOCKS)
    ],
    # Whole files
    Example("file without data", run, "path.write_text('# none')", LOAD_RUN),
    Example("file without data", letor, "path.write_text('')", LOAD_LETOR),
    Example(
        "ids beyond 64 bits",
        letor,
        replaced("qid:1", "qid:-1") + f"; path.write_text("
        f"path.read_text().replace('qid:2', 'qid:{2**64 - 1}'))",
        LOAD_LETOR,
    ),
    Example(
        "ids beyond 64 bits",
        rows,
        f"qid = numpy.array([{2**64}, {2**64}, 1], dtype=object)",
        DUMP,
        [""],
    ),
    Example("folder in place of file", rows, "path = path.parent", DUMP, [""]),
    Example(
        "no qid to write",
        rows,
        "qid = None",
        DUMP,
        ["qid = numpy.array([0, 0, 0])"],
    ),
    Example("number of grades to write", rows, "y = y[:, numpy.newaxis]", DUMP, [""]),
    Example("number of grades to write", rows, "y = [[2.0], [0.0], [1.0]]", DUMP, [""]),
    Example("number of grades to write", rows, "y = y[:2]", DUMP),
    Example(
        "infinite sum of duplicates",
        rows,
        "X = scipy.sparse.csr_matrix(([1e308, 1e308], [0, 0], [0, 2, 2, 2]), (3, 1))",
        DUMP,
    ),
    Example(
        "feature beyond 32 bits",
        rows,
        "X = scipy.sparse.csr_matrix(([1.0], ([0], [2**31 - 1])), (3, 2**31))",
        DUMP,
    ),
    # PrefLib
    Example("type of votes", votes, "path = path.with_suffix('.cat')", LOAD_VOTES),
    Example("empty votes", votes, "path.write_text('')", LOAD_VOTES),
    Example(
        "votes without orders",
        votes,
        "path.write_text(path.read_text().partition('5: ')[0])",
        LOAD_VOTES,
    ),
    Example("number of voters", votes, replaced("VOTERS: 7", "VOTERS: 8"), LOAD_VOTES),
    Example("number of voters", older_votes, replaced("7,7,2", "7,8,2"), LOAD_VOTES),
    Example(
        "key twice in header",
        votes,
        replaced("NAME 3: c", "NAME 3: c\n# ALTERNATIVE NAME 2: d"),
        LOAD_VOTES,
    ),
    Example(
        "no number of alternatives",
        votes,
        replaced("NUMBER ALTERNATIVES", "ALTERNATIVES"),
        LOAD_VOTES,
    ),
    Example("line of alternative", older_votes, replaced("2,b", "1,b"), LOAD_VOTES),
    Example(
        "end of header",
        older_votes,
        "path.write_text('3\\n1,a\\n2,b\\n3,c\\n')",
        LOAD_VOTES,
    ),
    Example(
        "totals of older header", older_votes, replaced("7,7,2", "7,2"), LOAD_VOTES
    ),
    Example(
        "count in header", votes, replaced("VOTERS: 7", "VOTERS: many"), LOAD_VOTES
    ),
    Example("count in header", older_votes, replaced("7,7,2", "7,x,2"), LOAD_VOTES),
    Example("count in header", older_votes, replaced("3\n1,a", "?\n1,a"), LOAD_VOTES),
    Example("number of names", votes, replaced("NATIVES: 3", "NATIVES: 4"), LOAD_VOTES),
    Example(
        "type in header of votes",
        votes,
        replaced("# NUMBER V", "# DATA TYPE: toi\n# NUMBER V")
        + ";"
        + replaced("2: 3,2,1", "2: {3,2}"),
        LOAD_VOTES,
        [
            replaced("2: 3,2,1", "2: {3,2}")
            + "; path = path.rename(path.with_suffix('.toi'))"
        ],
    ),
    Example(
        "type in header of votes",
        votes,
        replaced("# NUMBER V", "# DATA TYPE: cat\n# NUMBER V"),
        LOAD_VOTES,
    ),
    Example("form of order", votes, replaced("5: 2,1,3", "5: 2>1>3"), LOAD_VOTES),
    Example("unknown alternative", votes, replaced("5: 2,1,3", "5: 2,1,4"), LOAD_VOTES),
    Example("alternative twice", votes, replaced("5: 2,1,3", "5: 2,1,1"), LOAD_VOTES),
    Example(
        "tie in strict orders",
        votes,
        replaced("5: 2,1,3", "5: 2,{1,3}"),
        LOAD_VOTES,
        [
            replaced("5: 2,1,3", "5: 2,{3,1}")
            + "; path = path.rename(path.with_suffix('.toc'))"
        ],
    ),
    Example(
        "tie in strict orders",
        votes,
        replaced("# NUMBER V", "# DATA TYPE: soc\n# NUMBER V")
        + ";"
        + replaced("5: 2,1,3", "5: 2,{1,3}"),
        LOAD_VOTES,
    ),
    Example(
        "incomplete order",
        older_votes,
        replaced("5,2,1,3", "5,2,1"),
        LOAD_VOTES,
        [
            replaced("5,2,1,3", "5,2,1")
            + "; path = path.rename(path.with_suffix('.soi'))"
        ],
    ),
]
