"""Event streams: a client that has no WebSocket (Protocol.md, "Event streams"). `Client` of this directory works on it as
on a WebSocket."""
import asyncio
import json
import ssl
from urllib.parse import urlencode

from .client import Client
from .proxy import trusting
from .server import Response
from .waiting import within

PATIENCE = 20


async def connect(server, source=None):
    """A connection to a server's public listener, or to the proxy before it; gives its Host, too."""
    options = {"local_addr": (source, 0)} if source else {}
    if front := server.front:
        return *await asyncio.open_connection(front.address, front.port, ssl=trusting(), **options), front.host
    if server.address.startswith("unix:"):
        return *await asyncio.open_unix_connection(server.address[5:]), "localhost"
    host, port = server.address.rsplit(":", 1)
    context = trusting() if "tls.certificateFile" in server.settings else None
    return *await asyncio.open_connection(host.strip("[]"), int(port), ssl=context, **options), server.address


async def read_head(reader):
    first, *rest = (await within(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode("latin-1").strip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)}
    return int(first.split()[1]), headers


async def parts_of(reader, headers):
    """The parts of a body as they come, to its end."""
    if headers.get("transfer-encoding") == "chunked":
        while length := int(await reader.readline(), 16):
            yield await reader.readexactly(length)
            await reader.readexactly(2)
        return
    left = int(headers.get("content-length", 1 << 62))
    while left and (part := await reader.read(min(left, 65536))):
        left -= len(part)
        yield part


def request(method, path, host, headers=None, body=b""):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    if method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def ask(server, method, path, headers=None, body=b""):
    """One HTTP request to where clients connect, on a connection of its own."""
    reader, writer, host = await connect(server)
    try:
        writer.write(request(method, path, host, {"Connection": "close", **(headers or {})}, body))
        status, found = await read_head(reader)
        if method == "HEAD" or status == 204:
            return Response(status, found, b"")
        return Response(status, found, b"".join([part async for part in parts_of(reader, found)]))
    finally:
        writer.close()


def directory_of(server):
    return server.path.rpartition("/")[0] + "/"


class Refused(Exception):
    """The answer to `GET /events` is no stream."""

    def __init__(self, response):
        super().__init__(f"{response.status}: {response.text}")
        self.response = response


class EventSocket:
    """An event stream with what `Client` uses of a WebSocket. It sends requests one after the other, and gives their answers
    beside the events."""

    def __init__(self, server, reader, writer, status, headers):
        self.server, self.reader, self.writer = server, reader, writer
        self.status, self.headers = status, headers
        self.comments = 0
        self.close_code, self.close_reason = None, None
        self.key = None
        # Of requests that were not answered by JSON-RPC.
        self.refusals = []
        self._texts = asyncio.Queue()
        self._last = None
        self._pump = asyncio.ensure_future(self._read())

    @classmethod
    async def open(cls, server, query=None, headers=None, source=None):
        reader, writer, host = await connect(server, source)
        path = f"{directory_of(server)}events" + ("?" + urlencode(query) if query else "")
        writer.write(request("GET", path, host, headers))
        status, found = await read_head(reader)
        if status == 200:
            return cls(server, reader, writer, status, found)
        body = b"".join([part async for part in parts_of(reader, found)])
        writer.close()
        raise Refused(Response(status, found, body))

    async def _read(self):
        name, data, rest = None, [], b""
        try:
            async for part in parts_of(self.reader, self.headers):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    if line.startswith(b":"):
                        self.comments += 1
                    elif line.startswith(b"event: "):
                        name = line[7:]
                    elif line.startswith(b"data: "):
                        data.append(line[6:])
                    else:
                        assert line == b"", line
                        self._dispatch(name, data)
                        name, data = None, []
        # As a browser has it: a connection that is lost ends the stream.
        except (OSError, EOFError, ssl.SSLError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            self.close_code = self.close_code or 1006
            self._texts.put_nowait(None)
            # The server waits for it.
            self.writer.close()

    def _dispatch(self, name, data):
        if not data:
            assert name is None
            return
        (text,) = data
        if name == b"close":
            told = json.loads(text)
            assert set(told) == {"code", "reason"}
            self.close_code, self.close_reason = told["code"], told["reason"]
            return
        assert name is None and self.close_code is None, "nothing comes behind the close"
        frame = json.loads(text)
        if frame.get("method") == "onConnectSuccess":
            self.key = frame["params"]["streamKey"]
        self._texts.put_nowait(text.decode())

    def __aiter__(self):
        return self

    async def __anext__(self):
        text = await self._texts.get()
        if text is None:
            raise StopAsyncIteration
        return text

    async def post(self, body, key=None, headers=None):
        """The answer to one request."""
        fields = {"Content-Type": "application/json", "Authorization": f"Bearer {key or self.key}", **(headers or {})}
        body = body if isinstance(body, bytes) else body.encode()
        return await ask(self.server, "POST", f"{directory_of(self.server)}rpc", fields, body)

    async def send(self, text):
        self._last = asyncio.ensure_future(self._send(text, self._last))

    async def _send(self, text, before):
        if before:
            await before
        answer = await self.post(text)
        if answer.status == 200:
            self._texts.put_nowait(answer.text)
        elif answer.status != 204:
            self.refusals.append(answer.status)

    async def close(self):
        self.writer.close()
        if self._last:
            await self._last
        await self._pump


async def open_stream(server, query=None, headers=None, user=None, source=None):
    """A connection with nothing but what is given."""
    return Client(await EventSocket.open(server, query, headers, source), user)
