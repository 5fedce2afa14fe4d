"""Proxies under load and while things are read again, and the addresses that the server sees behind them
(Operations.md, "Reverse proxy")."""
import asyncio
import json
import ssl

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from harness.limits import IS_SHORT
from harness.proxy import PROXIES, Person, Talk, addresses, make_certificate, start  # noqa: F401 - a fixture
from harness.waiting import within
from test_reload import reload, replace, signed, write_keys


@pytest.mark.parametrize("kind", PROXIES)
async def test_many_connections(start, kind):  # noqa: F811
    count = 200 if IS_SHORT else 1000
    own, proxy = start(kind, {"limits.signInsPerSecond": 0, "heartbeat.timeout": 60})
    people = []
    for _ in range(count // 20):
        people += await asyncio.gather(*(Person.sign_in(proxy, f"user-{len(people) + n}") for n in range(20)))
    own.metric_becomes("throng_sessions", count)
    for result in await asyncio.gather(*(person.call("ping") for person in people)):
        assert result["serverTime"]
    await asyncio.gather(*(person.socket.close() for person in people))


@pytest.mark.parametrize("kind", ["nginx", "haproxy"])
async def test_a_reload_of_the_proxy_under_traffic(start, kind):  # noqa: F811
    """Connections of before go on through the old process, new ones come through the new."""
    own, proxy = start(kind)
    async with Talk([await Person.sign_in(proxy, f"user-{number}") for number in range(20)]):
        for number in range(3):
            await asyncio.to_thread(proxy.reload)
            late = await Person.sign_in(proxy, f"late-{number}")
            await late.call("ping")
    own.metric_becomes("throng_sessions", 23)


async def test_a_reload_of_caddy_lets_everybody_come_back(start):  # noqa: F811
    """Caddy ends its WebSockets when its configuration changes (2.6 all at once, as Debian has it); clients come
    back at once."""
    own, proxy = start("caddy")
    people = [await Person.sign_in(proxy, f"user-{number}") for number in range(20)]
    await asyncio.to_thread(proxy.reload)
    late = await Person.sign_in(proxy, "late")
    await asyncio.gather(*(within(person.socket.wait_closed(), 60) for person in people))
    assert {person.socket.close_code for person in people} <= {1001, 1006}
    back = await asyncio.gather(*(Person.sign_in(proxy, f"user-{number}") for number in range(20)))
    async with Talk(back):
        await late.call("ping")
    # Those of before end.
    own.metric_becomes("throng_sessions", 21)


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_reload_of_the_server_behind_the_proxy_drops_nobody(start, kind, tmp_path):  # noqa: F811
    """SIGHUP under load: sign-ins use the new keys, sessions of the old ones go on."""
    keys, path = [ec.generate_private_key(ec.SECP256R1()) for _ in range(4)], tmp_path / "keys.json"
    write_keys(path, keys[0])
    own, proxy = start(kind, {"auth.jwksFile": path})
    people = [await Person.sign_in(proxy, f"user-{number}", token=signed(keys[0], f"user-{number}")) for number in range(20)]
    async with Talk(people):
        for number, key in enumerate(keys[1:]):
            write_keys(path, key)
            (line,) = await asyncio.to_thread(reload, own)
            assert line["message"] == "a file was reloaded"
            late = await Person.sign_in(proxy, f"late-{number}", token=signed(key, f"late-{number}"))
            await late.call("ping")
    own.metric_becomes("throng_sessions", 23)


async def test_a_new_certificate_behind_haproxy_drops_nobody(start, tmp_path):  # noqa: F811
    """TLS passed on: the server's certificate changes under load."""
    own, proxy = start("haproxy", {"proxyProtocol": "true"}, file="haproxy-tcp.cfg", tls=True)
    others = [make_certificate(tmp_path, name=name) for name in ("one", "two")]

    def presented():
        return ssl.get_server_certificate(("127.0.0.1", proxy.port), timeout=20)
    async with Talk([await Person.sign_in(proxy, f"user-{number}") for number in range(20)]):
        for number, other in enumerate(others):
            replace(proxy.files, other)
            await asyncio.to_thread(reload, own)
            wanted = other["tls.certificateFile"].read_text()
            await asyncio.to_thread(own.wait_until, lambda: presented() == wanted, "the new certificate")
            late = await Person.sign_in(proxy, f"late-{number}")
            await late.call("ping")
    own.metric_becomes("throng_sessions", 22)


@pytest.mark.one_process("limits of connections are those of a node")
@pytest.mark.parametrize("kind", PROXIES)
async def test_limits_and_logs_see_the_client(start, kind):  # noqa: F811
    """Each client has an address of its own behind one proxy: 127.0.0.2 and 127.0.0.3."""
    own, proxy = start(kind, {"limits.connectionsPerAddress": 2, "auth.failureDelay": 0})
    for user, source in (("alice", "127.0.0.2"), ("bob", "127.0.0.2"), ("carol", "127.0.0.3")):
        await Person.sign_in(proxy, user, source=source)
        assert addresses(own, user) == [source]
    with pytest.raises(Exception, match="4005|connection limit"):
        await Person.sign_in(proxy, "dave", source="127.0.0.2")
    with pytest.raises(AssertionError, match="70003"):
        await Person.sign_in(proxy, "eve", source="127.0.0.3", token="nonsense")
    with pytest.raises(Exception, match="403"):
        await Person.sign_in(proxy, "mallory", source="127.0.0.4", origin="https://evil.example")
    own.wait_until(lambda: "upgrade refused" in own.log and "sign-in refused" in own.log, "both lines")
    lines = [json.loads(line) for line in own.log.splitlines()]
    told = {line["message"]: line["address"] for line in lines if "refused" in line["message"]}
    assert told == {"sign-in refused": "127.0.0.3", "upgrade refused": "127.0.0.4"}


@pytest.mark.parametrize("kind", PROXIES)
async def test_ipv6_before_and_behind_the_proxy(start, kind):  # noqa: F811
    """A client by IPv6 and a server by IPv4, and the other way round: the client's address arrives."""
    own, proxy = start(kind, address="::1")
    await Person.sign_in(proxy, "alice")
    assert addresses(own, "alice") == ["::1"]
    own, proxy = start(kind, listen="[::1]:0")
    await Person.sign_in(proxy, "bob", source="127.0.0.2")
    assert addresses(own, "bob") == ["127.0.0.2"]
