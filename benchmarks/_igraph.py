"""python-igraph's feedback arc sets, each in a process of its own that can be stopped.

``python -m benchmarks._igraph`` reads one JSON line, {"net": rows, "method": name}, and prints
{"weight": of the arcs, "seconds": of the call}.
"""

import json
import subprocess
import sys
from time import perf_counter

import numpy as np

from ._common import REPOSITORY


def feedback_arcs(net, method, time_limit):
    """Weight of igraph's feedback arc set and its seconds; None, None when time is over."""
    command = [sys.executable, "-m", "benchmarks._igraph"]
    try:
        finished = subprocess.run(
            command,
            input=json.dumps({"net": net.tolist(), "method": method}),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=time_limit,
        )
    except subprocess.TimeoutExpired:
        return None, None
    result = json.loads(finished.stdout.splitlines()[-1])
    return result["weight"], result["seconds"]


def main():
    """What the process does."""
    import igraph

    task = json.loads(sys.stdin.read())
    net = np.array(task["net"])
    edges = np.argwhere(net > 0)
    weights = net[net > 0]
    graph = igraph.Graph(n=len(net), edges=edges.tolist(), directed=True)
    start = perf_counter()
    arcs = graph.feedback_arc_set(weights.tolist(), task["method"])
    seconds = perf_counter() - start
    print(json.dumps({"weight": float(weights[arcs].sum()), "seconds": seconds}))


if __name__ == "__main__":
    main()
