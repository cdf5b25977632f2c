"""The command line: turns arguments into calls, and what goes wrong into an exit status."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
import traceback

import typer

from reprieve._native import UserError
from reprieve.cli.commands import app
from reprieve.cli.signals import heard
from reprieve.named_policies import trust

EXIT_OK = 0
EXIT_FAULT = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a disk says that takes no more."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status; see `EXIT_…`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # A scenario is data until the user says that it may be a program.
    trust(is_trusted=False)
    try:
        with heard():
            status = _dispatch(arguments)
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        _print_no_more()
        return EXIT_OK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            # Files say so by name; this is the standard output.
            _print_no_more()
            print(f"the output cannot be written: {error.strerror}", file=sys.stderr)  # noqa: T201
            return EXIT_MISTAKE
        # Anything else is a fault of ours.
        traceback.print_exception(error)
        return _fault(f"{type(error).__name__}: {error}", arguments)
    except BaseException as error:
        # A panic of the simulator is a BaseException, of a type that only its runtime knows.
        if type(error).__name__ != "PanicException":
            raise
        return _fault(str(error), arguments)
    finally:
        trust(is_trusted=True)
    return status


def _dispatch(arguments: list[str]) -> int:
    """Run the command; the framework's own errors become one line like all others."""
    command = typer.main.get_command(app)
    # A shell that completes a line asks by a variable of the environment; it is told, and no more.
    command._main_shell_completion({}, "reprieve")
    try:
        with command.make_context("reprieve", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as leave:
        return leave.exit_code
    except (UserError, typer.TyperException) as error:
        sentence = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        print(" ".join(sentence.split()), file=sys.stderr)  # noqa: T201
        return EXIT_MISTAKE
    return EXIT_OK


def _print_no_more() -> None:
    """Let nothing that is still buffered be written at exit, where it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fault(text: str, arguments: list[str]) -> int:
    command = shlex.join(["reprieve", *arguments])
    print(  # noqa: T201
        f"internal fault: {text}\nPlease report it; this repeats it: {command}", file=sys.stderr
    )
    return EXIT_FAULT
