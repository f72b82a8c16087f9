"""Command line of the benchmarks, one subcommand for each table of the documentation.

Times are ratios within one run, best of several alternating repeats. Peers are optional:
``pip install .[benchmark]``.
"""

import argparse
from pathlib import Path

from tests.fuzz import fuzz

from . import (
    clicks,
    cluster,
    comparisons,
    consistency,
    decoders,
    duels,
    fusion,
    intervals,
    items,
    limits,
    memory,
    multilabel,
    papers,
    preferences,
    quality,
    rules,
    structured,
    top,
)
from ._common import default_data_folder, write_rows

COMMANDS = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        quality,
        items,
        rules,
        preferences,
        multilabel,
        top,
        structured,
        clicks,
        fusion,
        intervals,
        duels,
        comparisons,
        limits,
        memory,
        cluster,
        decoders,
        consistency,
        papers,
        fuzz,
    )
}


def build_parser():
    """Parser with one subparser per module of COMMANDS, its docstring the help."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=formatter
    )
    subparsers = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        summary = module.__doc__.partition("\n")[0].replace(
            "%", "%%"
        )  # argparse formats it
        sub = subparsers.add_parser(
            name, help=summary, description=module.__doc__, formatter_class=formatter
        )
        sub.add_argument(
            "--tiny", action="store_true", help="small input, for a smoke test"
        )
        sub.add_argument(
            "--output", type=Path, help="also write the rows to this file, as JSON"
        )
        sub.add_argument(
            "--data",
            type=Path,
            default=default_data_folder(),
            help="folder of the data sets (default: $LOWRANK_RANK_DATA, else shared/data "
            "beside the checkout)",
        )
        module.add_arguments(sub)
    return parser


def main(argv=None):
    """Run one subcommand and return its rows, one dict for each number."""
    args = build_parser().parse_args(argv)
    rows = COMMANDS[args.command].run(args)
    if args.output is not None:
        write_rows(rows, args.output)
    return rows


if __name__ == "__main__":
    main()
