"""An example of a receiver that turns `offlinePush` into requests as APNs and FCM take them, and a
fake of each. APNs wants HTTP/2 in production; path, headers and body are the same."""
import json
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

APNS_LIMIT = 4096
FCM_LIMIT = 4096
TOPIC = "com.example.chat"


class PushSender:
    """The application's part: devices of users, and one request for each of them."""

    def __init__(self, apns_url, fcm_url, apns_key, fcm_token, project="chat-example"):
        self.devices = {}
        self._apns_url, self._fcm_url = apns_url, fcm_url
        self._apns_key, self._fcm_token = apns_key, fcm_token
        self._project = project
        self._done = set()
        self._lock = threading.Lock()

    def register(self, user, service, token):
        self.devices.setdefault(user, []).append((service, token))

    def __call__(self, request):
        """The answer of a Receiver. A webhook may come more than once: its id and the device name
        the push, so that nobody is notified twice."""
        if request.type != "offlinePush":
            return None
        message = request.data["message"]
        title = request.data["groupName"]
        body = f"{message.get('nameCard') or message['sender']}: {message.get('text', '…')}"
        for user in request.data["userIDList"]:
            for service, token in list(self.devices.get(user, [])):
                name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{request.id}/{service}/{token}"))
                with self._lock:
                    if name in self._done:
                        continue
                    self._done.add(name)
                send = self._to_apns if service == "apns" else self._to_fcm
                if not send(token, name, title, body, message):
                    self.devices[user].remove((service, token))
        return None

    def _to_apns(self, token, name, title, body, message):
        claims = {"iss": "TEAMID1234", "iat": int(time.time())}
        bearer = jwt.encode(claims, self._apns_key, algorithm="ES256", headers={"kid": "KEYID12345"})
        payload = {
            "aps": {"alert": {"title": title, "body": shortened(body, 1024)}, "sound": "default",
                    "thread-id": message["groupID"], "mutable-content": 1},
            "groupID": message["groupID"], "msgID": message["msgID"],
        }
        headers = {
            "authorization": f"bearer {bearer}", "apns-topic": TOPIC, "apns-push-type": "alert", "apns-priority": "10",
            "apns-id": name, "apns-collapse-id": message["msgID"][:64],
        }
        return post(f"{self._apns_url}/3/device/{token}", payload, headers) != 410

    def _to_fcm(self, token, name, title, body, message):
        payload = {"message": {
            "token": token, "notification": {"title": title, "body": shortened(body, 1024)},
            "data": {"groupID": message["groupID"], "msgID": message["msgID"], "pushID": name},
            "android": {"priority": "HIGH", "collapse_key": message["groupID"]},
        }}
        url = f"{self._fcm_url}/v1/projects/{self._project}/messages:send"
        return post(url, payload, {"authorization": f"Bearer {self._fcm_token}"}) != 404


def shortened(text, limit):
    """At most so many bytes of a text."""
    return text.encode()[:limit].decode(errors="ignore")


def post(url, payload, headers):
    """The status of a request with a JSON body."""
    body = json.dumps(payload, ensure_ascii=False).encode()
    request = urllib.request.Request(url, body, {**headers, "content-type": "application/json"}, method="POST")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


class FakeService:
    """The common part of APNs and FCM: a port, known devices, and the pushes that were taken."""

    def __init__(self, tokens):
        self.tokens = set(tokens)
        self.taken = []
        self.faults = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                try:
                    status, answer = fake.take(self.path, headers, body)
                except AssertionError as fault:
                    fake.faults.append(str(fault) or repr(fault))
                    status, answer = 400, {"reason": "BadRequest"}
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class FakeAPNs(FakeService):
    """`POST /3/device/TOKEN` as Apple documents it: a provider token signed with ES256, the topic, a
    push type, and a payload of at most 4096 bytes with `aps`."""

    def __init__(self, tokens):
        key = ec.generate_private_key(ec.SECP256R1())
        self.key = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self._public = key.public_key()
        super().__init__(tokens)

    def take(self, path, headers, body):
        prefix, _, token = path.rpartition("/")
        assert prefix == "/3/device" and len(token) == 64 and int(token, 16) >= 0, path
        bearer = headers["authorization"].removeprefix("bearer ")
        assert jwt.get_unverified_header(bearer) == {"alg": "ES256", "kid": "KEYID12345", "typ": "JWT"}
        claims = jwt.decode(bearer, self._public, algorithms=["ES256"])
        assert claims["iss"] == "TEAMID1234" and abs(claims["iat"] - time.time()) < 3600
        assert headers["apns-topic"] == TOPIC and headers["apns-push-type"] == "alert"
        assert headers["apns-priority"] in ("5", "10") and uuid.UUID(headers["apns-id"])
        assert len(headers["apns-collapse-id"].encode()) <= 64
        assert len(body) <= APNS_LIMIT, len(body)
        payload = json.loads(body)
        alert = payload["aps"]["alert"]
        assert isinstance(alert["title"], str) and isinstance(alert["body"], str)
        if token not in self.tokens:
            return 410, {"reason": "Unregistered", "timestamp": int(time.time() * 1000)}
        self.taken.append((token, payload))
        return 200, {}


class FakeFCM(FakeService):
    """`POST /v1/projects/PROJECT/messages:send` as Firebase documents it: an OAuth token, and a
    message for one device whose `data` holds strings only."""

    TOKEN = "ya29.example"

    def take(self, path, headers, body):
        assert path == "/v1/projects/chat-example/messages:send", path
        assert headers["authorization"] == f"Bearer {self.TOKEN}"
        assert len(body) <= FCM_LIMIT, len(body)
        content = json.loads(body)
        assert set(content) <= {"message", "validate_only"}
        message = content["message"]
        assert set(message) <= {"name", "data", "notification", "android", "webpush", "apns", "fcm_options", "token"}
        assert all(isinstance(value, str) for value in message["data"].values()), message["data"]
        assert isinstance(message["notification"]["title"], str) and isinstance(message["notification"]["body"], str)
        assert message["android"]["priority"] in ("NORMAL", "HIGH")
        if message["token"] not in self.tokens:
            return 404, {"error": {"code": 404, "status": "NOT_FOUND", "details": [{"errorCode": "UNREGISTERED"}]}}
        self.taken.append((message["token"], message))
        return 200, {"name": f"projects/chat-example/messages/{len(self.taken)}"}
