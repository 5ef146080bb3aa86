"""Builds the site: ``python -m workbench.site``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.site.build import ROOT, build_site, notebooks


def main() -> int:
    """Build the site and print what does not hold; return the process's exit code."""
    parser = argparse.ArgumentParser(prog="python -m workbench.site", description=__doc__)
    parser.add_argument("--target", type=Path, default=ROOT / ".cache" / "site")
    parser.add_argument("--notebook", action="append", default=[], help="only these, by file name")
    parser.add_argument("--no-solutions", action="store_true", help="of the lessons")
    repository = "on GitHub, as OWNER/NAME: each notebook's page links to Binder"
    parser.add_argument("--repository", default="", help=repository)
    options = parser.parse_args()
    chosen = [one for one in notebooks() if not options.notebook or one.name in options.notebook]
    wrong = build_site(
        options.target,
        chosen,
        solutions=not options.no_solutions,
        repository=options.repository,
        say=lambda line: print(line, flush=True),
    )
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
