"""A secret is changed, and nobody is turned away meanwhile (Operations.md, "Changing a secret")."""
import json

import pytest

from harness.ports import reserve_port
from harness.server import run_throng
from harness.tokens import OTHER_SECRET, SECRET, admin_token, make_token

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
THIRD = "a-third-secret-of-the-live-tests-0123456789"
KEY, FORMER_KEY = "k" * 40, "f" * 40


async def test_tokens_of_the_former_secret_are_good_beside_those_of_the_new_one(make_server, make_world):
    own = make_server({"auth.previousSecret": OTHER_SECRET})
    world = make_world(own)
    for user, secret in (("alice", SECRET), ("bob", OTHER_SECRET)):
        client = await world.session(user, token=make_token(user, secret=secret))
        assert (await client.call("ping"))["serverTime"]
    for secret, status in ((SECRET, 200), (OTHER_SECRET, 200), (THIRD, 401)):
        assert own.post_rpc(PING, admin_token(secret=secret)).status == status
    # The former secret signs nothing any more.
    assert own.stop() == 0
    del own.settings["auth.previousSecret"]
    own.start()
    assert own.post_rpc(PING, admin_token(secret=OTHER_SECRET)).status == 401


@pytest.mark.files
def test_the_secret_of_the_data_directory_is_changed_by_moving_it(make_server, tmp_path):
    own = make_server(secret=None)
    made = own.data_dir / "auth-secret"
    former = made.read_text().strip()
    assert own.stop() == 0
    made.rename(own.data_dir / "auth-secret.previous")
    own.settings["auth.previousSecretFile"] = own.data_dir / "auth-secret.previous"
    own.start()
    new = made.read_text().strip()
    assert new != former
    for secret in (former, new):
        assert own.post_rpc(PING, admin_token(secret=secret)).status == 200
    arguments = ("--admin", "--data-dir", own.data_dir, "--set", f"auth.previousSecretFile={own.data_dir}/auth-secret.previous")
    token = run_throng("token", "backend", *arguments, cwd=tmp_path).stdout.strip()
    checked = run_throng(
        "token", "check", token, "--set", f"auth.secret={new}", "--internal-listen", f"127.0.0.1:{reserve_port()}", cwd=tmp_path)
    assert checked.returncode == 0, "throng token signs with the new one"


def test_the_former_api_key_is_good_and_the_log_tells_who_uses_it(make_server):
    own = make_server({"admin.apiKey": KEY, "admin.previousAPIKey": FORMER_KEY})
    body = {"jsonrpc": "2.0", "id": 1, "method": "importUsers", "params": {"userIDList": ["alice"]}}
    for credential in (KEY, FORMER_KEY):
        assert own.post_rpc(body, credential).json()["result"] == {}
    assert own.post_rpc(body, "x" * 40).status == 401

    def callers():
        lines = [json.loads(line) for line in own.log.splitlines() if line.startswith("{")]
        return [line["by"] for line in lines if line["message"] == "audit"]
    own.wait_until(lambda: callers() == ["API key", "previous API key"], callers)
    assert KEY not in own.log and FORMER_KEY not in own.log
