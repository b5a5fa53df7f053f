"""The command ``meshdesk``: one thin command a role. Errors end as one sentence, never as a traceback."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import FrameType
from typing import Annotated, NoReturn

import typer

from meshdesk import __version__
from meshdesk.commands import chat, control, demo, doctor, hops, logs, node, relay, status, tracker
from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.volunteer.debugging import DEBUG_VARIABLE, debugging

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
EXIT_FAULT = 70

app = typer.Typer(
    name="meshdesk",
    help="Lend this computer to a mesh that runs large language models, and see every token's hop. "
    "Without a command, the app opens.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("chat")(chat.chat)
app.command("node")(node.node)
app.command("relay")(relay.relay)
app.command("tracker")(tracker.tracker)
app.command("doctor")(doctor.doctor)
app.command("status")(status.status)
app.command("join")(control.join)
app.command("leave")(control.leave)
app.command("pause")(control.pause)
app.command("resume")(control.resume)
app.command("logs")(logs.logs)
app.command("hops")(hops.hops)
app.command("quit")(control.quit_meshdesk)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"meshdesk {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    demo_mesh: Annotated[
        bool, typer.Option("--demo", help="Open the app with a mesh on this computer, to try it out.")
    ] = False,
    background: Annotated[bool, typer.Option("--background", help="Open the app in the tray only.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Log more, and show where an error came from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if debug:
        # In the environment, so that the programs a demo starts know it too.
        os.environ[DEBUG_VARIABLE] = "1"
    if context.invoked_subcommand is None:
        from meshdesk.desktop.start import StartOptions, start_desktop

        sys.exit(start_desktop(StartOptions(practice=demo_mesh, background=background)))
    if demo_mesh or background:
        raise UsageError("--demo and --background open the app; a command does not.", hint="Leave one of them out.")


def main() -> NoReturn:
    """Run the command line and end the process with the command's exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        # typer turns its own usage errors and Ctrl-C into SystemExit.
        app(prog_name="meshdesk")
    except MeshdeskError as error:
        if debugging():
            traceback.print_exc()
        print(sentence(error), file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        if debugging():
            traceback.print_exc()
        print(
            f"meshdesk: this is a fault of meshdesk ({type(error).__name__}: {error}). "
            "Run it with --debug and report what it shows.",
            file=sys.stderr,
        )
        sys.exit(EXIT_FAULT)
    sys.exit(0)


def sentence(error: MeshdeskError) -> str:
    """What a person reads about ``error``, on one line."""
    text = f"meshdesk: {error.message}" + (f" {error.hint}" if error.hint else "")
    return " ".join(text.split())


def _terminate(_: int, __: FrameType | None) -> None:
    """An exception rather than a sudden end, so that child processes and half-made files are cleaned up."""
    sys.exit(EXIT_TERMINATED)
