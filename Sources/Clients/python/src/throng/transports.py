# SPDX-License-Identifier: Apache-2.0
"""What a connection is made of: a WebSocket here, or a stream (stream.py)."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Union

import websockets

from .fallback import TransportName
from .frames import refuse
from .limits import CONNECT_TIMEOUT, LARGEST_MESSAGE, MOST_FRAGMENTS
from .reporting import shown_address

# An HTTP proxy: that of the environment (True), none, or an address.
ProxyOption = Union[str, None, Literal[True]]


@dataclass(frozen=True)
class Received:
    """The text of a frame, "" = a sign of life alone. `is_life`: whether it shows that events come."""

    text: str | bytes
    is_life: bool = True


@dataclass(frozen=True)
class TooLong:
    """A request, by its number, that did not come through because of its length."""

    number: int


class TransportClosed(Exception):
    """The end of a connection: a close code, or 1006 where there was none. `error`: what was wrong."""

    def __init__(self, code: int, reason: str | None, error: Exception | None = None) -> None:
        super().__init__(reason or "")
        self.code, self.reason, self.error = code, reason, error


class InvalidAddress(ValueError):
    """An address that no connection can be made to."""

    def __init__(self, url: str, reason: str = "one is such as wss://chat.example/ws") -> None:
        super().__init__(f"not a WebSocket's address: {shown_address(url)}; {reason}")


def address_of(url: str) -> str:
    """The address of a server's WebSocket, for which that of HTTP stands as well."""
    return re.sub("^http(s?)(?=://)", lambda found: "ws" + found[1].lower(), url, flags=re.IGNORECASE)


class StreamsUnavailable(Exception):
    """The server has no event streams."""


class Transport(Protocol):
    """One connection. It ends with TransportClosed; a frame that is none of the protocol's is a ClientError, BadAnswer."""

    name: TransportName

    async def open(self, token: str, platform: str | None, device_id: str | None) -> None: ...
    async def send(self, number: int, text: str) -> None: ...
    async def receive(self) -> Received | TooLong: ...
    async def close(self) -> None: ...


class WebSocketTransport:
    name: TransportName = "websocket"

    def __init__(self, url: str, proxy: ProxyOption, options: dict[str, Any]) -> None:
        self._url = url
        self._options = {"max_size": LARGEST_MESSAGE, "compression": None, "open_timeout": CONNECT_TIMEOUT, "proxy": proxy, **options}
        self._socket: Any = None

    async def open(self, token: str, platform: str | None, device_id: str | None) -> None:
        try:
            self._socket = await websockets.connect(
                self._url, subprotocols=[websockets.Subprotocol("throng.v1.json")], ping_interval=None, close_timeout=1, **self._options)
        except websockets.InvalidURI as error:
            if error.uri != self._url:
                raise TransportClosed(1006, f"the server redirects to {shown_address(error.uri)}", error) from error
            is_address = re.match("wss?://.", self._url, re.IGNORECASE)
            raise (InvalidAddress(self._url, error.msg) if is_address else InvalidAddress(self._url)) from error
        except Exception as error:
            # No connection, options that do not go together, or an answer that is none of the protocol's.
            raise TransportClosed(1006, str(error), error) from error

    async def send(self, number: int, text: str) -> None:
        try:
            await self._socket.send(text)
        except websockets.ConnectionClosed:
            pass  # `receive` tells of it

    async def receive(self) -> Received | TooLong:
        try:
            return Received(await self._read())
        except websockets.ConnectionClosed as error:
            raise TransportClosed(self._socket.close_code or 1006, self._socket.close_reason) from error

    async def _read(self) -> str | bytes:
        """The next message, whose fragments must have an end."""
        parts: list[str] = []
        is_text = True
        async for part in self._socket.recv_streaming():
            is_text = is_text and isinstance(part, str)
            parts.append(part)
            if len(parts) > MOST_FRAGMENTS:
                refuse(f"a message of more than {MOST_FRAGMENTS} fragments")
        return "".join(parts) if is_text else b""

    async def close(self) -> None:
        if self._socket:
            await self._socket.close()
