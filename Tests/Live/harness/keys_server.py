"""The place of `auth.jwksURL`: an identity provider with the keys of tokens."""
import json

from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from .http_peer import HTTPAnswer, HTTPPeer
from .tokens import make_token


class TokenKey:
    """An ES256 key with a name."""

    def __init__(self, kid):
        self.kid = kid
        self._key = ec.generate_private_key(ec.SECP256R1())

    @property
    def row(self):
        """Its public half, as a key set has it."""
        return {**json.loads(ECAlgorithm.to_jwk(self._key.public_key())), "kid": self.kid, "alg": "ES256", "use": "sig"}

    def token(self, user, **options):
        return make_token(user, secret=self._key, algorithm="ES256", headers={"kid": self.kid}, **options)


class KeysServer(HTTPPeer):
    """Gives the set of `keys`, or `given` (an HTTPAnswer) instead; behind `gate` (a threading.Event), where there is one."""

    def __init__(self, *keys):
        super().__init__(self._answer)
        self.keys = list(keys)
        self.given = None
        self.gate = None

    def _answer(self, method, path, headers, body):
        if (method, path) != ("GET", "/keys"):
            return HTTPAnswer(status=404)
        if self.given:
            return self.given
        document = json.dumps({"keys": [key.row for key in self.keys]}).encode()
        return HTTPAnswer(document, content_type="application/jwk-set+json", when=self.gate)

    @property
    def settings(self):
        return {"auth.jwksURL": self.url("/keys")}
