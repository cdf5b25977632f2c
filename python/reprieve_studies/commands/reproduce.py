"""`reprieve reproduce`: a paper's tables and figures beside its own numbers."""

from pathlib import Path
from typing import Annotated

from reprieve import UserError
from reprieve.cli.console import command_line, overall, say
from reprieve.cli.options import Force, Jobs, argument, flag, given, out_dir
from reprieve.overwriting import may_write
from reprieve_studies.commands.verdicts import show_verdicts
from reprieve_studies.loads import Recording


def reproduce(
    paper: Annotated[
        str,
        argument(
            "Which: fast12, starblaze, zambelli21, mbm, zns-a, drives, aero, deadline.", "PAPER"
        ),
    ],
    quick: Annotated[
        bool, flag("--quick", "Fewer requests: a minute on two cores, ten for zns-a and drives.")
    ] = False,
    out: Annotated[Path | None, out_dir("out/PAPER")] = None,
    traces: Annotated[
        list[str] | None,
        given(
            "A genuine trace in place of its counterpart, such as F1=Financial1.spc; "
            "F1=FILE=FORMAT where two formats fit; repeated.",
            "NAME=FILE",
            "--trace",
        ),
    ] = None,
    requests: Annotated[int | None, given("Requests of each load or run.", "N")] = None,
    joint: Annotated[
        bool,
        flag("--joint", "Search for the assumptions under which most headline claims hold."),
    ] = False,
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Run what a paper measured and say for each of its claims whether it is reproduced.

    Writes report.html, verdicts.json, numbers.json and figures/ (SVG and PNG) to DIR.
    """
    from reprieve_studies.papers import Settings, reproduce_into

    directory = Path("out", paper) if out is None else out
    files = dict(_trace(text) for text in traces or ())
    may_write([], directory, inputs=[each.path for each in files.values()], force=force)
    with overall() as step:
        command = command_line()
        settings = Settings(quick, requests, files, jobs, step, joint, command)
        article = reproduce_into(paper, directory, settings)
    show_verdicts(article.title, article.verdicts, "paper")
    say(
        f"wrote {directory / 'report.html'}, {directory / 'verdicts.json'}, {directory / 'figures'}"
    )


def _trace(text: str) -> tuple[str, Recording]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise UserError(f"--trace {text}: must be NAME=FILE, such as F1=Financial1.spc")
    file, equals, format = path.rpartition("=")
    # A name of a file may have the sign in it.
    if equals and not Path(path).exists():
        return name, Recording(Path(file), format)
    return name, Recording(Path(path))
