"""RS256, ES256 and EdDSA by a JWKS file (Protocol.md, "Tokens")."""
import asyncio
import hashlib
import hmac
import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from harness.tokens import SECRET, make_token

WRITERS = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


def new_key(algorithm):
    if algorithm == "RS256":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1()) if algorithm == "ES256" else ed25519.Ed25519PrivateKey.generate()


@pytest.fixture(scope="module")
def keys():
    return {algorithm: new_key(algorithm) for algorithm in WRITERS}


@pytest.fixture
def jwks_file(keys, tmp_path):
    rows = []
    for algorithm, key in keys.items():
        row = json.loads(WRITERS[algorithm].to_jwk(key.public_key()))
        rows.append({**row, "kid": algorithm.lower(), "alg": algorithm, "use": "sig"})
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": rows}))
    return path


async def test_the_keys_of_the_file_and_the_secret_sign_in_each_with_its_algorithm(make_server, make_world, keys, jwks_file):
    world = make_world(make_server({"auth.jwksFile": jwks_file}))
    for algorithm, key in keys.items():
        token = make_token("alice", secret=key, algorithm=algorithm, headers={"kid": algorithm.lower()})
        assert await world.login_code(token) == 0
        assert await world.login_code(make_token("alice", secret=key, algorithm=algorithm)) == 0, "without kid"
    assert await world.login_code(make_token("alice")) == 0


async def test_another_key_or_an_unknown_kid_is_refused(make_server, make_world, keys, jwks_file):
    world = make_world(make_server({"auth.jwksFile": jwks_file}))
    for algorithm in keys:
        assert await world.login_code(make_token("alice", secret=new_key(algorithm), algorithm=algorithm)) == 70009
        token = make_token("alice", secret=keys[algorithm], algorithm=algorithm, headers={"kid": "unknown"})
        assert await world.login_code(token) == 70009
        expired = make_token("alice", secret=keys[algorithm], algorithm=algorithm, ttl=-60)
        assert await world.login_code(expired) == 70001


async def test_the_log_says_which_key_is_missing(make_server, make_world, keys, jwks_file):
    own = make_server({"auth.jwksFile": jwks_file, "auth.algorithms": "ES256"})
    world = make_world(own)
    for token, code, reason in (
        (make_token("alice", secret=keys["ES256"], algorithm="ES256", headers={"kid": "new"}), 70009,
         'its kid is "new"; auth.jwksFile has no ES256 key of that name'),
        (make_token("alice", secret=new_key("ES256"), algorithm="ES256"), 70009, "no ES256 key of auth.jwksFile has signed it"),
        (make_token("alice"), 70003, 'its alg is "HS256"; this server accepts ES256'),
    ):
        assert await world.login_code(token) == code
        quoted = json.dumps(reason)[1:-1]
        await asyncio.to_thread(own.wait_until, lambda: quoted in own.log, reason)


async def test_a_public_key_is_no_secret(make_server, make_world, keys, jwks_file):
    """Each algorithm takes keys of its own kind only."""
    world = make_world(make_server({"auth.jwksFile": jwks_file}))
    for key in keys.values():
        pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        head, body = (jwt.utils.base64url_encode(json.dumps(part).encode()) for part in (
            {"alg": "HS256", "typ": "JWT", "kid": "rs256"}, {"sub": "alice", "exp": 4102444800}))
        digest = hmac.new(pem, head + b"." + body, hashlib.sha256).digest()
        signature = jwt.utils.base64url_encode(digest)
        assert await world.login_code(b".".join((head, body, signature)).decode()) == 70009


async def test_the_algorithms_may_be_narrowed(make_server, make_world, keys, jwks_file):
    world = make_world(make_server({"auth.jwksFile": jwks_file, "auth.algorithms": "ES256,EdDSA"}))
    assert await world.login_code(make_token("alice", secret=keys["ES256"], algorithm="ES256")) == 0
    assert await world.login_code(make_token("alice", secret=keys["EdDSA"], algorithm="EdDSA")) == 0
    assert await world.login_code(make_token("alice", secret=keys["RS256"], algorithm="RS256")) == 70003
    assert await world.login_code(make_token("alice", secret=SECRET)) == 70003
