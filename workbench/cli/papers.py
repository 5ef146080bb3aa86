"""List the figures, tables, algorithms and claims of the papers, and make ours.

A row says what the paper shows, the Python that makes ours, the data it stands on, the verdict on
a claim, and how ours differs.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from workbench.cli.output import (
    add_json,
    output_file,
    output_folder,
    print_json,
    say,
    slow_import_notice,
)
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.papers import PaperRow

ABOUT = "list every figure, table and claim of the papers, and make ours"

_LISTED = FunctionOptions("workbench.papers.list")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, about in (
        ("list", "list the rows"),
        ("show", "print one row: its call, its data, its verdict and the difference"),
        ("run", "run the call of a row"),
        ("judge", "judge a paper's claims now; the shipped verdicts were made so"),
    ):
        action = actions.add_parser(name, help=about, description=about)
        if name == "list":
            _LISTED.add(action, "paper", metavar="NUMBER")
            _LISTED.add(action, "kind", "verdict", metavar=None)
        elif name == "judge":
            action.add_argument(
                "papers", nargs="*", metavar="NUMBER", help="such as 000 (default: all judged ones)"
            )
            action.add_argument(
                "--save", type=output_folder, metavar="FOLDER", help="write NUMBER.json there"
            )
        else:
            action.add_argument("id", metavar="ID", help="such as 000-fig-8")
        if name == "run":
            action.add_argument(
                "--save",
                type=output_file(".html"),
                metavar="FILE.html",
                help="write the figure there",
            )
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    with slow_import_notice():
        from workbench import papers
    if arguments.action == "list":
        index = papers.list(**_LISTED.given(arguments))
        print_json(index.to_dict()) if arguments.json else print(index)
    elif arguments.action == "judge":
        _judge(arguments)
    else:
        row = papers.list()[arguments.id]
        if arguments.action == "show":
            print_json(row.to_dict()) if arguments.json else _print_row(row)
        else:
            _run(row, arguments)
    return 0


def _judge(arguments: argparse.Namespace) -> None:
    from workbench import papers

    every = [number for number, paper in papers.PAPERS.items() if paper.judged]
    found = {number: papers.judge(number) for number in arguments.papers or every}
    for number, findings in found.items():
        if arguments.save is not None:
            folder = Path(arguments.save)
            folder.mkdir(parents=True, exist_ok=True)
            findings.save(folder / f"{number}.json")
        if not arguments.json:
            print(findings)
    if arguments.json:
        print_json({number: findings.to_dict() for number, findings in found.items()})


def _print_row(row: PaperRow) -> None:
    for name, text in row.to_dict().items():
        print(f"{name}:\n{indent(text, '    ')}" if name == "call" else f"{name}: {text}")


def _run(row: PaperRow, arguments: argparse.Namespace) -> None:
    from workbench import papers, plotting

    result = row.run()
    figure = papers.figure_of(result)
    titles = [] if figure is None else papers.figure_titles(figure)
    if arguments.save is not None:
        if figure is None:
            raise ParameterError(f"only a figure is saved; {row.id} makes none", key="save")
        Path(arguments.save).write_text(plotting.standalone_html(figure, row.title), "utf-8")
    if arguments.json:
        print_json({"id": row.id, "result": titles if result is figure else result})
        return
    if result is not figure:
        print(result.to_string() if hasattr(result, "to_string") else result)
    for title in titles:
        print(f"figure: {title}")
    if titles and arguments.save is None:
        say(f"note: workbench papers run {row.id} --save FILE.html writes the figure")
