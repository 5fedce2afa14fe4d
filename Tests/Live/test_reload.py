"""SIGHUP reads the certificate, its key and the JWKS file again (Operations.md, "Reloading")."""
import asyncio
import json
import shutil
import signal
import ssl
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from websockets.asyncio.client import connect

from harness.tokens import make_token
from harness.waiting import within
from test_tls import certificate, openssl  # noqa: F401 - a fixture


def reload(own, count=1):
    """SIGHUP, and the lines that tell of its files. All nodes say the same, which is given once."""
    def lines():
        found = [json.loads(line) for line in own.log.splitlines() if line.startswith("{")]
        return [line for line in found if line["message"] in ("a file was reloaded", "a file was not reloaded")]
    before = len(lines())
    own.process.send_signal(signal.SIGHUP)
    own.wait_until(lambda: len(lines()) == before + count * len(own.node_addresses), "the lines of the reload")
    told = {(line["message"], line.get("file"), line.get("error")): line for line in lines()[before:]}
    assert len(told) == count, told
    return list(told.values())


def presented(own):
    """The certificate that a new connection gets, as PEM."""
    host, port = own.address.rsplit(":", 1)
    return ssl.get_server_certificate((host, int(port)), timeout=20)


def presents(own, path):
    """Waits until new connections get this certificate: the loops take it one after the other."""
    own.wait_until(lambda: all(presented(own) == pem(path) for _ in range(6)), f"{path} is presented")


def pem(path):
    return ssl.DER_cert_to_PEM_cert(ssl.PEM_cert_to_DER_cert(path.read_text()))


def replace(files, other):
    for key in files:
        shutil.copy(other[key], files[key])


async def session(own, user):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client = await connect(
        f"wss://{own.address}/ws?token={make_token(user)}", ssl=context, proxy=None, compression=None, open_timeout=60,
        ping_interval=None)
    assert json.loads(await client.recv())["method"] == "onConnectSuccess"
    return client


async def ping(client):
    await client.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    assert "result" in json.loads(await within(client.recv(), 60))


@pytest.mark.parametrize("loops", [1, 3])
async def test_new_connections_get_the_new_certificate_and_old_ones_stay(make_server, certificate, loops):  # noqa: F811
    files, other = certificate(), certificate(days=20, name="other")
    own = make_server({**files, "loops": loops})
    before = await session(own, "alice")
    assert presented(own) == pem(files["tls.certificateFile"])
    replace(files, other)
    (line,) = await asyncio.to_thread(reload, own)
    assert line["message"] == "a file was reloaded" and line["file"] == str(files["tls.certificateFile"])
    presents(own, other["tls.certificateFile"])
    after = await session(own, "bob")
    for client in (before, after):
        await ping(client)
        await client.close()
    assert '"the certificate expires on' in own.log
    for address in own.node_addresses:
        own.metric_becomes("throng_tls_certificate_expiry_timestamp_seconds",
                           lambda end: 19 < (end - time.time()) / 86400 < 21, address=address)


async def test_a_certificate_that_is_read_again_is_not_warned_of_again(make_server, certificate):  # noqa: F811
    files = certificate(days=20)
    own = make_server(files)
    for _ in range(2):
        (line,) = await asyncio.to_thread(reload, own)
        assert line["message"] == "a file was reloaded"
    assert own.stop() == 0
    assert own.log.count('"the certificate expires on') == len(own.node_addresses)


async def test_a_key_of_another_kind_may_follow(make_server, certificate, tmp_path):  # noqa: F811
    files = certificate()
    own = make_server(files)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", 90, "-keyout", files["tls.keyFile"],
            "-out", files["tls.certificateFile"])
    await asyncio.to_thread(reload, own)
    presents(own, files["tls.certificateFile"])


@pytest.mark.parametrize("fault", ["certificate gone", "key gone", "garbage", "mismatch", "empty"])
async def test_a_bad_file_keeps_the_old_one_and_says_why(make_server, certificate, fault):  # noqa: F811
    files, other = certificate(), certificate(name="other")
    own = make_server(files)
    old = pem(files["tls.certificateFile"])
    if fault == "certificate gone":
        files["tls.certificateFile"].unlink()
    elif fault == "key gone":
        replace(files, other)
        files["tls.keyFile"].unlink()
    elif fault == "garbage":
        files["tls.certificateFile"].write_text("garbage")
    elif fault == "empty":
        replace(files, other)
        files["tls.keyFile"].write_text("")
    else:
        shutil.copy(other["tls.certificateFile"], files["tls.certificateFile"])
    (line,) = await asyncio.to_thread(reload, own)
    assert line["message"] == "a file was not reloaded" and line["level"] == "error"
    assert str(files["tls.keyFile" if fault in ("key gone", "mismatch", "empty") else "tls.certificateFile"]) in line["error"]
    if fault == "mismatch":
        assert "the key does not belong to the certificate" in line["error"]
    assert presented(own) == old
    replace(files, other)
    await asyncio.to_thread(reload, own)
    presents(own, other["tls.certificateFile"])


async def test_each_file_is_kept_or_replaced_for_itself(make_server, certificate):  # noqa: F811
    """A renewed certificate for the same key is used also where the key's file is gone."""
    files = certificate()
    own = make_server(files)
    renewed = files["tls.certificateFile"].with_name("renewed.pem")
    openssl("req", "-x509", "-key", files["tls.keyFile"], "-subj", "/CN=localhost", "-days", 99, "-out", renewed)
    shutil.copy(renewed, files["tls.certificateFile"])
    files["tls.keyFile"].write_text("garbage")
    lines = await asyncio.to_thread(reload, own, 2)
    assert {line["message"] for line in lines} == {"a file was reloaded", "a file was not reloaded"}
    presents(own, renewed)


async def test_a_bad_certificate_does_not_keep_the_keys_of_tokens_out(make_server, certificate, tmp_path):  # noqa: F811
    files, key_file = certificate(), tmp_path / "keys.json"
    old, new = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    write_keys(key_file, old)
    own = make_server({**files, "auth.jwksFile": key_file})
    files["tls.certificateFile"].write_text("garbage")
    write_keys(key_file, new)
    lines = await asyncio.to_thread(reload, own, 2)
    assert [line["message"] for line in lines] == ["a file was not reloaded", "a file was reloaded"]


def write_keys(path, *keys):
    rows = [{**json.loads(ECAlgorithm.to_jwk(key.public_key())), "alg": "ES256", "use": "sig"} for key in keys]
    path.write_text(json.dumps({"keys": rows}))


def signed(key, user):
    return make_token(user, secret=key, algorithm="ES256")


async def test_sign_ins_use_the_new_keys_and_sessions_of_old_ones_live_on(make_server, make_world, tmp_path):
    old, new = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    path = tmp_path / "keys.json"
    write_keys(path, old)
    own = make_server({"auth.jwksFile": path})
    world = make_world(own)
    alice = await world.session("alice", token=signed(old, "alice"))
    assert await world.login_code(signed(new, "bob")) == 70009
    write_keys(path, new)
    (line,) = await asyncio.to_thread(reload, own)
    assert line["message"] == "a file was reloaded" and line["file"] == str(path)
    assert await world.login_code(signed(new, "bob")) == 0
    assert await world.login_code(signed(old, "carol")) == 70009
    assert await world.login_code(make_token("dave")) == 0, "the secret stays"
    await alice.call("ping")
    # A renewal is a new check, and a refused one ends nothing.
    await alice.refused(70009, "login", token=signed(old, "alice"))
    await alice.call("login", token=signed(new, "alice"))


@pytest.mark.parametrize("content", ["", "no json", '{"keys":[{"kty":"EC"}]}'], ids=["empty", "text", "half a key"])
async def test_a_bad_key_set_keeps_the_old_one(make_server, make_world, tmp_path, content):
    key, path = ec.generate_private_key(ec.SECP256R1()), tmp_path / "keys.json"
    write_keys(path, key)
    own = make_server({"auth.jwksFile": path})
    path.write_text(content)
    (line,) = await asyncio.to_thread(reload, own)
    assert line["message"] == "a file was not reloaded" and str(path) in line["error"]
    assert await make_world(own).login_code(signed(key, "alice")) == 0


async def test_a_reload_under_load_drops_nobody(make_server, certificate):  # noqa: F811
    pairs = [certificate(name="one"), certificate(name="two")]
    files = certificate()
    own = make_server(files)
    people = [await session(own, f"user-{number}") for number in range(10)]

    async def talk(client, until):
        count = 0
        while not until.is_set():
            await ping(client)
            count += 1
        return count
    until = asyncio.Event()
    talking = [asyncio.create_task(talk(client, until)) for client in people]
    for number in range(6):
        replace(files, pairs[number % 2])
        await asyncio.to_thread(reload, own)
        people.append(await session(own, f"late-{number}"))
        await ping(people[-1])
    until.set()
    assert all(count > 0 for count in await asyncio.gather(*talking))
    await asyncio.gather(*(client.close() for client in people))
    assert own.http("GET", "/readyz").status == 200
