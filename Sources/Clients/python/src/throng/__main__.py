# SPDX-License-Identifier: Apache-2.0
"""Listens in a group, or says something there: `python -m throng --help`."""
from __future__ import annotations

import argparse
import asyncio
import sys

from .client import ThrongClient
from .clock import within
from .errors import ClientError, ThrongError
from .limits import LONGEST_WAIT
from .transports import InvalidAddress


async def join(client: ThrongClient, group: str) -> None:
    """Joins, again where the answer was lost or the server is busy: a second join is refused, and does no harm."""
    while True:
        try:
            await client.joinGroup(groupID=group)
            return
        except ClientError as error:
            if error.reason != "ConnectionLost":
                raise
        except ThrongError as error:
            if error.code == 10013:
                return
            if not error.temporary:
                raise
            await asyncio.sleep(error.retry_after or 1)


def seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= LONGEST_WAIT:
        raise ValueError
    return value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m throng", description="Listens in a group of a Throng server, or says something there.")
    parser.add_argument("url", help="of the WebSocket, such as ws://127.0.0.1:8080/ws")
    parser.add_argument("token", help="of a user; `throng token NAME` makes one")
    verbs = parser.add_subparsers(dest="verb", required=True)
    listen = verbs.add_parser("listen", help="prints what is said in a group, until Ctrl-C")
    say = verbs.add_parser("say", help="says one thing, and prints what became of it")
    for verb in (listen, say):
        verb.add_argument("group", help="the groupID")
    say.add_argument("text")
    say.add_argument("--timeout", type=seconds, default=30, metavar="SECONDS",
                     help="gives up after so many seconds, with the exit status 1 (default: 30)")
    return parser.parse_args()


async def listen(client: ThrongClient, group: str) -> None:
    await client.connect()
    await join(client, group)
    print(f"[in {group}]", flush=True)
    async for name, params in client.events():
        if name == "onRecvNewMessage":
            print(f'{params["message"]["sender"]}: {params["message"].get("text")}', flush=True)
        if name == "sync":
            for message in params["messageList"]:
                print(f'{message["sender"]}: {message.get("text")}', flush=True)


async def say(client: ThrongClient, group: str, text: str) -> str | None:
    """Answers why the message is not there, or None."""
    await client.connect()
    await join(client, group)
    message = await client.send_text(group, text).done
    print(message.state, flush=True)
    return str(message.error) if message.error else "the room was too busy" if message.state == "dropped" else None


async def main(options: argparse.Namespace) -> str | None:
    """Answers the words for stderr that go with the exit status 1, or None."""
    client = ThrongClient(options.url, options.token)
    try:
        if options.verb == "listen":
            await listen(client, options.group)
            return None
        late = ClientError("NotConnected", f"given up after {options.timeout:g} s")
        return await within(say(client, options.group, options.text), options.timeout, late)
    finally:
        await client.close()


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(arguments())))
    except (ThrongError, ClientError, InvalidAddress) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass
