"""``meshdesk chat``: talk to a mesh, one question or a conversation."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Annotated, NoReturn

import typer

from meshdesk.commands.running import run_until_interrupted
from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.volunteer.chat_client import Question, ask, printable
from meshdesk.volunteer.urls import http_url

LEAVE = ("/exit", "/quit")
HELP = "Ctrl-C stops an answer, /new begins a new conversation, /exit or Ctrl-D leaves."


def chat(
    prompt: Annotated[str | None, typer.Argument(help="One question; without it, a conversation.")] = None,
    tracker: Annotated[
        str | None, typer.Option(envvar="MESHDESK_TRACKER", help="The mesh's tracker.", show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Which of the mesh's models; any without it.", show_default=False)
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="How long an answer may be.")] = 512,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="0: always the likeliest token; 1: much of chance.")
    ] = 0.2,
    system: Annotated[
        str | None, typer.Option(help="Instructions for the whole conversation.", show_default=False)
    ] = None,
) -> None:
    """Chat with a mesh; answers stream in as they are computed."""
    if tracker is None:
        raise UsageError("Which mesh? Nobody said.", hint="Give --tracker http://ADDRESS:PORT.")
    conversation = Conversation(http_url(tracker, "--tracker"), model, max_tokens, temperature, system)
    if prompt is None and not sys.stdin.isatty():
        # A question from a file or a pipe; an empty one is refused by the mesh in its own words.
        prompt = sys.stdin.read()
    if prompt is None:
        _converse(conversation)
    if asyncio.run(run_until_interrupted(conversation.answer(prompt))):
        raise KeyboardInterrupt


class Conversation:
    """What was said so far, and the mesh that answers."""

    def __init__(
        self,
        tracker_url: str,
        model: str | None,
        max_tokens: int | None,
        temperature: float | None,
        system: str | None,
    ):
        self._tracker_url = tracker_url
        self._model = model
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._opening = [] if system is None else [{"role": "system", "content": system}]
        self._messages = list(self._opening)

    def begin_anew(self) -> None:
        """Forget everything but the instructions."""
        self._messages = list(self._opening)

    async def answer(self, prompt: str) -> None:
        """Write the answer to standard output as it comes, and keep question and answer.

        What was answered until a failure or Ctrl-C is kept, as it was read; a question without any answer is not.
        """
        asked = [*self._messages, {"role": "user", "content": prompt}]
        question = Question(
            messages=asked, model=self._model, max_tokens=self._max_tokens, temperature=self._temperature
        )
        said: list[str] = []
        try:
            async with contextlib.aclosing(ask(self._tracker_url, question)) as pieces:
                async for piece in pieces:
                    said.append(piece.text)
                    sys.stdout.write(printable(piece.text))
                    sys.stdout.flush()
        finally:
            if any(said):
                sys.stdout.write("\n")
                sys.stdout.flush()
                self._messages = [*asked, {"role": "assistant", "content": "".join(said)}]


def _converse(conversation: Conversation) -> NoReturn:
    """Questions from the terminal until the person leaves."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and history in input())
    print(HELP)
    with asyncio.Runner() as runner:
        while True:
            try:
                prompt = input("\n> ").strip()
            except KeyboardInterrupt:
                print(f"\n{HELP}")
                continue
            except EOFError:
                print()
                sys.exit(0)
            if prompt in LEAVE:
                sys.exit(0)
            if prompt == "/new":
                conversation.begin_anew()
            elif prompt:
                _one_answer(runner, conversation, prompt)


def _one_answer(runner: asyncio.Runner, conversation: Conversation, prompt: str) -> None:
    try:
        if runner.run(run_until_interrupted(conversation.answer(prompt))):
            print("(stopped)")
    except KeyboardInterrupt:
        # Pressed before the answer's own handler was there, or after it.
        print("(stopped)")
    except MeshdeskError as error:
        print(f"{error.message} {error.hint or ''}".rstrip(), file=sys.stderr)
