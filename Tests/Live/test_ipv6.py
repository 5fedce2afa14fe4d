"""Listeners on IPv6 addresses (Operations.md, "Listeners")."""
import socket

import pytest

from harness.proxy import addresses
from harness.server import StartFailed, run_throng


@pytest.fixture(autouse=True)
def ipv6():
    with socket.socket(socket.AF_INET6) as one:
        try:
            one.bind(("::1", 0))
        except OSError:
            pytest.skip("there is no IPv6")


async def test_both_listeners_take_ipv6(make_server, make_world, tmp_path):
    own = make_server(listen="[::1]:0", internal="[::1]:0")
    assert own.address.startswith("[::1]:") and own.internal_address.startswith("[::1]:")
    alice = await make_world(own).session("alice")
    assert addresses(own, "alice") == ["::1"]
    await alice.call("ping")
    assert run_throng("health", "--internal-listen", own.internal_address, cwd=tmp_path).stdout == "alive\n"


@pytest.mark.one_process("limits of connections are those of a node")
async def test_every_address_is_both_families(make_server, make_world, tmp_path):
    """An IPv4 client of [::] has its own address, for limits and logs."""
    own = make_server({"limits.connectionsPerAddress": 1}, listen="[::]:0", internal="[::]:0")
    port = own.address.rsplit(":", 1)[1]
    own.listening["internalListen"] = "[::1]:" + own.internal_address.rsplit(":", 1)[1]
    world = make_world(own)
    own.listening["listen"] = f"[::1]:{port}"
    await world.session("six")
    own.listening["listen"] = f"127.0.0.1:{port}"
    await world.session("four")
    assert addresses(own, "six") == ["::1"] and addresses(own, "four") == ["127.0.0.1"]
    third = await world.open()
    await third.closed(4005)
    asked = own.internal_address.replace("[::1]", "[::]")
    assert run_throng("health", "--internal-listen", asked, cwd=tmp_path).stdout == "alive\n"


@pytest.mark.one_process("the balancer listens, and says it in its own words")
def test_an_address_that_is_taken_stops_the_start(make_server):
    own = make_server(listen="[::1]:0")
    with pytest.raises(StartFailed) as failure:
        make_server(listen=own.address)
    assert own.address in failure.value.log
