"""A collector of traces that takes OTLP/HTTP in JSON, as OpenTelemetry's own does, and keeps the spans."""
import json
import re

from .http_peer import HTTPAnswer, HTTPPeer

HEX = {"traceId": re.compile("[0-9a-f]{32}"), "spanId": re.compile("[0-9a-f]{16}")}


class CollectedSpan:
    """A span as it came."""

    def __init__(self, span, resource):
        self.trace = span["traceId"]
        self.id = span["spanId"]
        self.parent = span.get("parentSpanId")
        self.name = span["name"]
        self.kind = span["kind"]
        self.start = int(span["startTimeUnixNano"])
        self.end = int(span["endTimeUnixNano"])
        self.attributes = attributes(span)
        self.is_error = span["status"].get("code") == 2
        self.resource = resource
        assert all(pattern.fullmatch(span[name]) for name, pattern in HEX.items()), span
        assert self.parent is None or HEX["spanId"].fullmatch(self.parent), span
        assert self.start <= self.end and self.kind in (1, 2, 3), span

    def __repr__(self):
        return f"{self.name}({self.id} < {self.parent}, {self.attributes})"


def attributes(value):
    """By their names; numbers are texts in this encoding."""
    found = {}
    for row in value["attributes"]:
        (kind, text), = row["value"].items()
        assert isinstance(text, str) and row["key"] not in found, row
        found[row["key"]] = int(text) if kind == "intValue" else text
    return found


class Collector(HTTPPeer):
    """Takes spans, or gives `given` (an HTTPAnswer) instead."""

    def __init__(self):
        super().__init__(self._answer)
        self.spans = []
        self.faults = []
        self.given = None

    def _answer(self, method, path, headers, body):
        if self.given:
            return self.given
        try:
            assert (method, path, headers["content-type"]) == ("POST", "/v1/traces", "application/json")
            for part in json.loads(body)["resourceSpans"]:
                resource = attributes(part["resource"])
                self.spans += [CollectedSpan(span, resource) for scope in part["scopeSpans"] for span in scope["spans"]]
        except (AssertionError, LookupError, ValueError) as error:  # a test looks at them
            self.faults.append(repr(error))
            return HTTPAnswer(status=400)
        return HTTPAnswer(b"{}")

    @property
    def endpoint(self):
        return self.url("")

    def of(self, trace):
        """The spans of a trace."""
        return [span for span in list(self.spans) if span.trace == trace]

    def wait_for_spans(self, trace, *names):
        """The spans of a trace by these names, as soon as all are there; one each."""
        def found():
            assert not self.faults, self.faults
            by_name = {span.name: span for span in self.of(trace)}
            return [by_name[name] for name in names] if set(names) <= set(by_name) else None
        return self.wait_for(found, f"spans {names} of {trace}; there are {self.spans[-20:]}")
