"""TLS files that cannot be used, or not for long (Operations.md, "TLS")."""
import json
import time

import pytest

from harness.proxy import make_certificate, openssl
from harness.server import StartFailed, run_throng


@pytest.fixture
def certificate(tmp_path):
    """Makes a certificate and its key: `certificate(days)`."""
    def make(days=365, name="tls"):
        return make_certificate(tmp_path, days, name)
    return make


def flags(settings):
    return [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]


def expires_soon(own):
    entries = [json.loads(line) for line in own.log.splitlines()]
    return [entry for entry in entries if entry["level"] == "warning" and "certificate" in entry["message"]]


def test_a_certificate_that_expires_soon_warns(make_server, certificate, tmp_path):
    files = certificate(days=10)
    own = make_server(files)
    own.wait_until(lambda: len(expires_soon(own)) >= len(own.node_addresses), "the warning, of each node")
    assert len(expires_soon(own)) == len(own.node_addresses)
    for address in own.node_addresses:
        own.metric_becomes(
            "throng_tls_certificate_expiry_timestamp_seconds", lambda end: 9 * 86400 < end - time.time() < 11 * 86400, address)
    done = run_throng("config", "check", *flags(files), cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "ok\n" and "warning: the certificate expires" in done.stderr


def test_a_certificate_for_long_does_not(make_server, certificate, tmp_path):
    files = certificate()
    own = make_server(files)
    own.metric_becomes("throng_tls_certificate_expiry_timestamp_seconds", lambda end: end > time.time())
    assert own.stop() == 0
    assert not expires_soon(own)
    assert not run_throng("config", "check", *flags(files), cwd=tmp_path).stderr


def test_without_tls_there_is_no_such_metric(server):
    assert "throng_tls_certificate" not in server.http("GET", "/metrics").text


def test_an_encrypted_key_is_told_and_nobody_is_asked_for_a_passphrase(make_server, certificate, tmp_path):
    files = certificate()
    encrypted = tmp_path / "encrypted.pem"
    openssl("pkey", "-in", files["tls.keyFile"], "-aes256", "-passout", "pass:x", "-out", encrypted)
    files["tls.keyFile"] = encrypted
    done = run_throng("config", "check", *flags(files), cwd=tmp_path)
    assert done.returncode == 1 and "the private key is encrypted: remove its passphrase" in done.stderr
    with pytest.raises(StartFailed) as failure:
        make_server(files)
    assert failure.value.status == 1 and "the private key is encrypted: remove its passphrase" in failure.value.log
    assert "Enter PEM" not in failure.value.log + done.stderr


def test_a_key_of_another_certificate_is_told(certificate, tmp_path):
    files = certificate()
    files["tls.keyFile"] = certificate(name="other")["tls.keyFile"]
    done = run_throng("config", "check", *flags(files), cwd=tmp_path)
    assert done.returncode == 1 and "the key does not belong to the certificate" in done.stderr


def test_a_file_that_is_no_pem_is_told(certificate, tmp_path):
    files = certificate()
    files["tls.certificateFile"] = tmp_path / "garbage.pem"
    files["tls.certificateFile"].write_text("garbage")
    done = run_throng("config", "check", *flags(files), cwd=tmp_path)
    assert done.returncode == 1 and "garbage.pem: is not a PEM certificate" in done.stderr
