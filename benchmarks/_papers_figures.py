"""Figures 2 and 3 of Kar, Narasimhan & Jain 2015, drawn from the rows of `_papers_top`."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: Of each table: columns of x (a prefix, or None for the numbers in the columns' names), its label.
PANELS = {
    "time": ("s ", "seconds of training"),
    "depth": (None, "k / positives"),
    "batch": (None, "rows in a batch"),
}
STYLES = {
    "SVMperf": "kx:",
    "1PMB": "k.--",
    "SVMperf, centred": "mx:",
    "1PMB, centred": "m.--",
}


def draw(rows, path):
    """One row of panels for each table, one column for each set; the path is where it is saved."""
    sets = sorted({row["set"] for row in rows})
    fig, axes = plt.subplots(
        len(PANELS), len(sets), figsize=(3.4 * len(sets), 8), squeeze=False, layout="constrained"
    )
    for line, (table, (prefix, label)) in zip(axes, PANELS.items(), strict=True):
        for ax, name in zip(line, sets, strict=True):
            for row in rows:
                if (row["table"], row["set"]) == (table, name):
                    ax.plot(
                        *points(row, prefix), STYLES.get(row["method"], ".-"), label=row["method"]
                    )
            ax.set(title=name, xlabel=label, xscale="linear" if table == "depth" else "log")
            ax.xaxis.set_minor_formatter("")
            if table == "batch":
                lengths = sorted({x for curve in ax.lines for x in curve.get_xdata()})
                ax.set_xticks(lengths, [f"{x:g}" for x in lengths])
                ax.set_xticks([], minor=True)
        line[0].set_ylabel("precision at k")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    fig.savefig(path, dpi=90)
    plt.close(fig)


def points(row, prefix):
    """x and y of a row: seconds and precision by point, or the numbers that name the columns."""
    if prefix is not None:
        numbers = [key.removeprefix(prefix) for key in row if key.startswith(prefix)]
        return [row[prefix + n] for n in numbers], [row["prec " + n] for n in numbers]
    columns = [key for key in row if key.replace(".", "", 1).isdigit()]
    return [float(key) for key in columns], [row[key] for key in columns]
