"""The parts of the measurement of a backend's calls, against an HTTP server of a few lines."""
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calls import Answer, Figures, body, head, parse, run
from processes import Failure


def test_an_answer_may_come_in_any_parts():
    text = b'HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n{"jsonrpc":"2.0","id":7,"result":{}}'
    for cut in range(1, len(text)):
        answer = Answer()
        assert not answer.add(text[:cut]) and answer.add(text[cut:]) and answer.keeps
        answer.check(7)
        with pytest.raises(Failure):
            answer.check(70)


@pytest.mark.parametrize("text", [b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 401 No\r\n\r\n"])
def test_another_status_is_a_failure(text):
    with pytest.raises(Failure):
        Answer().add(text)


def test_an_error_is_a_failure():
    answer = Answer()
    assert answer.add(b'HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n{"jsonrpc":"2.0","id":7,"error":{"c":1}}')
    with pytest.raises(Failure):
        answer.check(7)


def test_a_connection_that_is_closed_is_told():
    answer = Answer()
    assert answer.add(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") and not answer.keeps


def test_percentiles_are_of_all_calls():
    figures = Figures(seconds=2, latencies=[n / 1000 for n in range(1, 1001)], cpu=0.05)
    assert figures.rate == 500 and figures.percentile(0.5) == pytest.approx(501) and figures.percentile(0.999) == pytest.approx(1000)
    assert figures.as_json()["serverCPUMicrosecondsPerCall"] == pytest.approx(50)


def test_wrong_options_are_refused():
    for words in (["--methods", "ping,drop"], ["--rate", "0"], ["--connections", "-1"]):
        with pytest.raises(SystemExit):
            parse(words)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {}}, separators=(",", ":")).encode()
        self.send_response(200)
        if self.headers.get("connection") == "close":
            self.send_header("connection", "close")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


@pytest.mark.parametrize("keeps", [True, False])
def test_all_calls_are_made_on_so_many_connections(keeps):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        figures = run(server.server_address, os.getpid(), "ping", 3, 200, 0.5, keeps)
        server.shutdown()
    assert len(figures.latencies) == 100 and all(latency > 0 for latency in figures.latencies)
    assert figures.connections == (0 if keeps else 100)


def test_a_call_is_what_the_page_says():
    assert b"Connection" not in head("t", 5, True) and b"\r\nConnection: close\r\n" in head("t", 5, False)
    assert b'"groupID": "g1"' in body("sendGroupTextMessage", 65) and b"params" in body("ping", 1)
