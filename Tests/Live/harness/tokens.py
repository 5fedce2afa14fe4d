"""Makes tokens without the server's help (Protocol.md, "Tokens")."""
import base64
import json
import time

import jwt

SECRET = "live-tests-secret-0123456789-0123456789"
OTHER_SECRET = "another-secret-of-the-live-tests-0123456789"


def make_token(user, ttl=3600, secret=SECRET, algorithm="HS256", headers=None, now=None, **claims):
    """A signed token for `user` that ends `ttl` seconds after `now` (Unix seconds; None = this machine's); a claim
    given as None is left out."""
    payload = {"sub": user, "exp": int(time.time() if now is None else now) + ttl, **claims}
    payload = {name: value for name, value in payload.items() if value is not None}
    return jwt.encode(payload, secret, algorithm=algorithm, headers=headers)


def admin_token(**options):
    """The token of an application administrator."""
    return make_token("backend", adm=True, **options)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned_token(user):
    """A token with `alg: none` and an empty signature."""
    parts = ({"alg": "none", "typ": "JWT"}, {"sub": user, "exp": int(time.time()) + 3600})
    return ".".join(base64url(json.dumps(part).encode()) for part in parts) + "."


def expiry_of(token):
    """`tokenExpiresAt` of a token: Unix milliseconds."""
    return jwt.decode(token, options={"verify_signature": False})["exp"] * 1000
