"""The command line: turns arguments into calls, and errors into an exit status."""

import errno
import io
import os
import shlex
import signal
import sys
import traceback
from contextlib import suppress

import typer

from reprieve._native import UserError
from reprieve.cli.commands import app
from reprieve.cli.completion import complete
from reprieve.cli.console import say
from reprieve.cli.signals import INTERRUPTED, heard
from reprieve.named_policies import trust
from reprieve.words import printable, said

EXIT_OK = 0
EXIT_FAULT = 1
EXIT_MISTAKE = 2
EXIT_INTERRUPTED = INTERRUPTED

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status; see `EXIT_…`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _take_any_letter()
    _hear_interrupts()
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
        if (told := _of_the_machine(error)) is not None:
            print(told, file=sys.stderr)  # noqa: T201
            return EXIT_MISTAKE
        # Anything else is a fault of ours.
        traceback.print_exception(error)
        return _fault(f"{type(error).__name__}: {said(error)}", arguments)
    except BaseException as error:
        # A panic of the simulator is a BaseException, of a type that only its runtime knows.
        if type(error).__name__ != "PanicException":
            raise
        return _fault(said(error), arguments)
    finally:
        trust(is_trusted=True)
    return status


def _dispatch(arguments: list[str]) -> int:
    """Run the command; the framework's own errors become one line like all others."""
    command = typer.main.get_command(app)
    complete(command, arguments)
    try:
        with command.make_context("reprieve", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as leave:
        return leave.exit_code
    except (UserError, typer.TyperException) as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            say(str(error))
            return EXIT_MISTAKE
        sentence = error.format_message() if isinstance(error, typer.TyperException) else str(error)
        print(printable(sentence), file=sys.stderr)  # noqa: T201
        return EXIT_MISTAKE
    return EXIT_OK


def _of_the_machine(error: Exception) -> str | None:
    """Return a sentence where the machine has no room: for the standard output, or in memory."""
    number = error.errno if isinstance(error, OSError) else None
    if number in FULL:
        # Files say so by name; this is the standard output.
        _print_no_more()
        return f"the output cannot be written: {os.strerror(number)}"
    # A library that is not loaded, or a thread that is not started, says so in words.
    words = ("failed to map segment", "Cannot allocate memory", "can't start new thread")
    has_words = any(one in said(error) for one in words)
    if isinstance(error, MemoryError) or number == errno.ENOMEM or has_words:
        return f"not enough memory: {said(error) or 'a table'}; give more, or ask for less"
    return None


def _take_any_letter() -> None:
    """Let a terminal that has no µ show another letter; the results have it."""
    for stream in (sys.stdout, sys.stderr):
        # A file that is read and written, and cannot seek, stays as it is.
        with suppress(OSError):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")


def _hear_interrupts() -> None:
    """Take interrupts from here on; until then they ended the process, see `reprieve`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _print_no_more() -> None:
    """Let nothing that is still buffered be written at exit, where it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fault(text: str, arguments: list[str]) -> int:
    command = shlex.join(["reprieve", *arguments])
    print(  # noqa: T201
        f"internal fault: {text}\nPlease report it; this repeats it: {command}", file=sys.stderr
    )
    return EXIT_FAULT
