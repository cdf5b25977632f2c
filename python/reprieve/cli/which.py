"""`reprieve which`: which limit, policy, drive or over-provisioning a load needs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reprieve.cli.console import command_line
from reprieve.cli.options import Force, Jobs, Minutes, ScenarioFile, Sets, given, option, out_dir
from reprieve.cli.tune import answered


class Word(StrEnum):
    """A question."""

    LIMIT = "limit"
    POLICY = "policy"
    DRIVE = "drive"
    SPARE = "spare"


def which(
    question: Annotated[
        Word, typer.Argument(help="Choice to make; spare is over-provisioning.", show_default=False)
    ],
    scenario: ScenarioFile,
    of: Annotated[
        str | None, given("The choices, in place of the usual ones.", "A,B,…", "--of")
    ] = None,
    tail: Annotated[
        str | None, given("Bound on the read p99.9, such as 400us.", "TIME", "--tail")
    ] = None,
    where: Annotated[
        list[str] | None, given('Another bound, such as "write.mean <= 2ms".', "BOUND", "--where")
    ] = None,
    least: Annotated[
        str | None, given("Number to minimise in place of the usual one.", "FIELD", "--min")
    ] = None,
    sets: Sets = None,
    indifferent: Annotated[
        str, option("Difference from the best that does not matter.", "SHARE")
    ] = "2%",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each choice.")] = 3,
    minutes: Minutes = None,
    workers: Jobs = None,
    out: Annotated[Path | None, out_dir("out/which-QUESTION-SCENARIO")] = None,
    force: Force = False,
) -> None:
    """Answer a question about a drive: try every choice, and say which is best and what ties.

    limit: suspensions of an operation, for the least read p99.9. policy: the one that keeps --tail
    at the least mean write. drive: of those named, the least read p99.9. spare: the least
    over-provisioning that keeps the bounds.
    """
    from reprieve.overwriting import inputs_of, may_write
    from reprieve.scenario import Source
    from reprieve.tuning import Settings
    from reprieve.tuning.choices import Given, asked_of
    from reprieve.tuning.question import share

    source = Source.read(scenario, sets or [])
    words = [word.strip() for word in of.split(",")] if of else []
    asked = asked_of(question, source, Given(words, where or [], tail, least, share(indifferent)))
    directory = Path("out", f"which-{question}-{scenario.stem}") if out is None else out
    may_write([], directory, inputs=inputs_of(source), force=force)
    command = command_line()
    settings = Settings(seeds=seeds, minutes=minutes, workers=workers, command=command)
    answered(source, asked, directory, settings)
