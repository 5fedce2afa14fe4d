# SPDX-License-Identifier: Apache-2.0
"""Event streams, for networks that let no WebSocket pass (Protocol.md, "Event streams"): events come over a `GET`, requests
leave by `POST`, one at a time. They need PyPI's `httpx`."""
from __future__ import annotations

import asyncio
import importlib.util
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from .clock import within
from .errors import ClientError
from .fallback import TransportName
from .frames import END, Values, encoded, is_object, read_value, refuse, words
from .limits import LARGEST_BATCH, LARGEST_EVENT, LARGEST_MESSAGE, LAST_ANSWER, MOST_BATCHED, POST_TIMEOUT
from .transports import InvalidAddress, ProxyOption, Received, StreamsUnavailable, TooLong, TransportClosed

if TYPE_CHECKING:
    import httpx

# What waits for the client.
MOST_RECEIVED = 100
# The bytes of an event: a character has four at most.
LARGEST_LINE = 4 * LARGEST_EVENT + 16
UNAVAILABLE = (404, 405, 501)


def has_streams() -> bool:
    """Whether the package is there that streams need."""
    return importlib.util.find_spec("httpx") is not None


def addresses(url: str) -> tuple[str, str]:
    """The addresses of a server's streams, and of their requests, beside its WebSocket."""
    parts = urlsplit(url)
    schemes = {"ws": "http", "wss": "https"}
    if parts.scheme not in schemes or not parts.hostname:
        raise InvalidAddress(url)
    host = parts.netloc.rsplit("@", 1)[-1]
    directory = parts.path[:parts.path.rfind("/") + 1] or "/"
    events, requests = (SplitResult(schemes[parts.scheme], host, directory + name, "", "").geturl() for name in ("events", "rpc"))
    return events, requests


class EventReader:
    """Reads a text/event-stream: bytes become events, as their names and data; None = a comment."""

    def __init__(self) -> None:
        self._rest = b""
        self._name, self._size = "", 0
        self._data: list[bytes] = []

    def read(self, data: bytes) -> list[tuple[str, bytes] | None]:
        events: list[tuple[str, bytes] | None] = []
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line.removesuffix(b"\r"), events)
        if len(self._rest) + self._size > LARGEST_LINE:
            refuse(f"an event of more than {LARGEST_LINE} bytes")
        return events

    def _take(self, line: bytes, events: list[tuple[str, bytes] | None]) -> None:
        if not line:
            if self._data:
                events.append((self._name, b"\n".join(self._data)))
            self._name, self._data, self._size = "", [], 0
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        self._size += len(line)
        if not field:
            events.append(None)
            self._size -= len(line)
        elif field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode(errors="replace")


class StreamTransport:
    name: TransportName = "stream"

    def __init__(self, url: str, proxy: ProxyOption, options: dict[str, Any]) -> None:
        import httpx

        self._events_url, self._requests_url = addresses(url)
        proxies: dict[str, Any] = {"trust_env": True} if proxy is True else {"trust_env": False, "proxy": proxy}
        ssl = {"verify": options["ssl"]} if options.get("ssl") is not None and options["ssl"] is not True else {}
        headers = {"User-Agent": "throng-client", "Accept-Encoding": "identity", **dict(options.get("additional_headers") or {})}
        # Times are the client's own.
        self._client = httpx.AsyncClient(headers=headers, timeout=None, **proxies, **ssl)
        self._response: httpx.Response | None = None
        self._key: str | None = None
        self._received: asyncio.Queue[Received | TooLong | Exception] = asyncio.Queue(MOST_RECEIVED)
        self._waiting: deque[tuple[int, str]] = deque()
        self._reader: asyncio.Task[None] | None = None
        self._poster: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[httpx.Response] | None = None
        self._is_ending = self._is_closed = False

    @property
    def is_open(self) -> bool:
        """Whether the server has begun to answer."""
        return self._response is not None

    async def open(self, token: str, platform: str | None, device_id: str | None) -> None:
        query = {name: value for name, value in {"platform": platform, "deviceID": device_id}.items() if value is not None}
        try:
            request = self._client.build_request(
                "GET", self._events_url, params=query, headers={"Authorization": f"Bearer {token}", "Accept": "text/event-stream"})
            self._opening = asyncio.ensure_future(self._client.send(request, stream=True))
            response = await self._opening
        except asyncio.CancelledError:
            if self._is_closed:
                raise TransportClosed(1006, "given up") from None
            raise
        except Exception as error:
            # No connection, or options and texts that do not go together.
            raise lost(error) from error
        self._response = response
        if response.status_code in UNAVAILABLE:
            raise StreamsUnavailable(f"HTTP {response.status_code}")
        kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
        if response.status_code != 200 or kind != "text/event-stream":
            raise TransportClosed(1006, f"HTTP {response.status_code} in place of an event stream")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TransportClosed(1006, "the stream is compressed, which nobody asked for")
        self._reader = asyncio.ensure_future(self._read(response))

    def authorize(self, key: str) -> None:
        """From now on requests leave; `key` is that of the stream."""
        self._key = key
        self._post_soon()

    async def send(self, number: int, text: str) -> None:
        self._waiting.append((number, text))
        self._post_soon()

    async def receive(self) -> Received | TooLong:
        one = await self._received.get()
        if isinstance(one, Exception):
            raise one
        return one

    async def close(self) -> None:
        self._is_closed = True
        tasks = [one for one in (self._opening, self._reader, self._poster) if one]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._response:
            await self._response.aclose()
        await self._client.aclose()

    # Events

    async def _read(self, response: httpx.Response) -> None:
        try:
            async for event in self._events(response):
                if event is None:
                    await self._received.put(Received(""))
                elif event[0] == "close":
                    await self._finish_posting()
                    return await self._received.put(closing(event[1]))
                elif event[0] in ("", "message"):
                    await self._received.put(Received(text_of(event[1])))
            await self._received.put(TransportClosed(1006, "the stream has ended"))
        except ClientError as error:
            await self._received.put(error)
        except Exception as error:
            # Of httpx as a rule; whatever it is, nothing more comes.
            await self._received.put(lost(error))

    @staticmethod
    async def _events(response: httpx.Response) -> AsyncIterator[tuple[str, bytes] | None]:
        reader = EventReader()
        async for data in response.aiter_raw():
            for event in reader.read(data):
                yield event

    # Requests

    def _post_soon(self) -> None:
        if self._key and self._waiting and self._poster is None:
            self._poster = asyncio.ensure_future(self._post_all())

    async def _finish_posting(self) -> None:
        """The answer to the last request, such as logout, comes on another connection than the end of the stream."""
        self._is_ending = True
        if self._poster:
            await asyncio.wait({self._poster}, timeout=LAST_ANSWER)

    async def _post_all(self) -> None:
        try:
            while self._waiting and not self._is_ending:
                await self._post(self._next_batch())
        except (ClientError, TransportClosed) as error:
            await self._fail(error)
        except Exception as error:
            await self._fail(lost(error))
        else:
            self._poster = None

    async def _fail(self, error: Exception) -> None:
        # The end of the stream itself says more.
        if not self._is_ending:
            await self._received.put(error)

    def _next_batch(self) -> list[tuple[int, str]]:
        batch = [self._waiting.popleft()]
        size = len(batch[0][1].encode()) + 2
        while self._waiting and len(batch) < MOST_BATCHED:
            more = len(self._waiting[0][1].encode()) + 1
            if size + more > LARGEST_BATCH:
                break
            size += more
            batch.append(self._waiting.popleft())
        return batch

    async def _post(self, batch: list[tuple[int, str]]) -> None:
        body = batch[0][1] if len(batch) == 1 else f"[{','.join(text for _, text in batch)}]"
        status, answer = await within(
            self._answer(body), POST_TIMEOUT, TransportClosed(1006, "a request was not answered in time"))
        if status == 413 and len(batch) > 1:
            # A proxy takes less than the server: nothing of it was carried out.
            for one in batch:
                await self._post([one])
        elif status == 413:
            await self._received.put(TooLong(batch[0][0]))
        elif status == 200 and len(batch) == 1:
            await self._received.put(Received(text_of(answer), is_life=False))
        elif status == 200:
            frames = read_value(text_of(answer))
            if not isinstance(frames, list) or not all(map(is_object, frames)):
                refuse("an answer to a batch that is none")
            for frame in frames:
                await self._received.put(Received(encoded(frame), is_life=False))
        elif status != 204 and not self._is_ending:
            raise TransportClosed(1006, f"HTTP {status} in answer to a request")

    async def _answer(self, body: str) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        async with self._client.stream("POST", self._requests_url, content=body.encode(), headers=headers) as response:
            parts: list[bytes] = []
            size = 0
            async for data in response.aiter_raw():
                size += len(data)
                if size > LARGEST_MESSAGE:
                    refuse(f"an answer of more than {LARGEST_MESSAGE} bytes")
                parts.append(data)
            return response.status_code, b"".join(parts)


def lost(error: Exception) -> TransportClosed:
    return TransportClosed(1006, str(error) or type(error).__name__, error)


def text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        refuse(words(str(error)))


def closing(data: bytes) -> Exception:
    """The end that a server has told."""
    try:
        end: Values = read_value(text_of(data))
    except ClientError as error:
        return error
    if not END(end) or not 1000 <= end["code"] < 5000:
        return ClientError("BadAnswer", "an end that is none of the protocol's")
    return TransportClosed(end["code"], words(end.get("reason") or ""))
