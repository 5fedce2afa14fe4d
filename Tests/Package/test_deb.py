"""The package for Debian 12: installed, used, upgraded, removed and purged in a chroot of nothing but Debian and apt."""
import re
import shutil
import stat
import subprocess
import time

import pytest

from service import CONFIGURATION, Service, chat, history

DATA = "/var/lib/throng"


def install(system, deb, *options):
    system.run("apt-get", "update", "-qq")
    # The configuration is replaced where nobody has changed it, and otherwise kept.
    system.run("apt-get", "install", "-y", "-qq", "-o", "Dpkg::Options::=--force-confold", *options, system.bring(deb))


def status(system):
    return system.try_to_run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "throng").stdout


def rights(system, path):
    found = system.file(path).stat()
    names = system.run("stat", "-c", "%U:%G", path).strip()
    return names, oct(stat.S_IMODE(found.st_mode))


def test_somebody_new_has_the_first_message_within_a_minute(make_chroot, deb):
    system = make_chroot()
    system.run("apt-get", "update", "-qq")
    began = time.monotonic()
    install(system, deb)
    assert rights(system, DATA) == ("throng:throng", "0o700")
    assert rights(system, CONFIGURATION) == ("root:throng", "0o640")
    assert system.run("throng", "version").startswith("throng ")
    # systemd starts it with the machine.
    assert system.file("/etc/systemd/system/multi-user.target.wants/throng.service").is_symlink()
    assert not list(system.file("/etc/systemd/system/multi-user.target.wants").glob("throng@*"))
    # dpkg finds each file as it was packed.
    assert system.run("dpkg", "--verify", "throng") == ""
    with Service(system) as service:
        chat(service, "first", "Hello!")
        took = time.monotonic() - began
        print(f"from the .deb to the first message: {took:.1f} s")
        assert took < 60
    # Whoever is in the group may see the file, and others neither that nor the secret.
    assert system.try_to_run("setpriv", "--reuid=65534", "--clear-groups", "cat", CONFIGURATION).returncode != 0
    assert rights(system, f"{DATA}/auth-secret")[1] == "0o600"


def test_the_configuration_listens_on_this_machine_alone(make_chroot, deb):
    system = make_chroot()
    install(system, deb)
    shown = system.run("throng", "config", "show", "--config", CONFIGURATION)
    given = {line.split()[0]: line.split()[1] for line in shown.splitlines() if " file " in line}
    assert given == {"listen": "127.0.0.1:8080", "dataDir": DATA}
    assert system.run("throng", "config", "check", "--config", CONFIGURATION) == "ok\n"


def test_manual_pages_and_completions_are_there(make_chroot, deb):
    system = make_chroot()
    system.file("/etc/dpkg/dpkg.cfg.d/docker").unlink(missing_ok=True)
    install(system, deb)
    commands = re.findall(r"^  ([a-z]+) +\S", system.run("throng", "--help").split("SUBCOMMANDS:")[1], re.M)
    assert len(commands) > 10
    for command in commands:
        assert system.file(f"/usr/share/man/man1/throng-{command}.1.gz").exists(), command
    assert system.file("/usr/share/man/man5/throng.yaml.5.gz").exists()
    completion = "/usr/share/bash-completion/completions/throng"
    offered = system.run("bash", "-c", f'. {completion}; COMP_WORDS=(throng ser) COMP_CWORD=1; _throng throng ser throng; echo "${{COMPREPLY[@]}}"')
    assert offered.split() == ["serve"]


def test_an_upgrade_keeps_the_data_and_a_changed_configuration(make_chroot, deb, before):
    system = make_chroot()
    install(system, before)
    assert status(system).split()[0] == "installed" and "0.0.1" in status(system)
    with Service(system) as service:
        chat(service, "kept", "said before the upgrade")
    secret = system.file(f"{DATA}/auth-secret").read_bytes()
    changed = system.file(CONFIGURATION)
    changed.write_text(changed.read_text() + "log.level: debug\n")
    changed.chmod(0o600)

    install(system, deb)
    assert "0.0.1" not in status(system)
    assert changed.read_text().endswith("log.level: debug\n") and changed.read_text().startswith("## Of the version before.")
    assert oct(stat.S_IMODE(changed.stat().st_mode)) == "0o600", "the administrator's own rights stay"
    changed.chmod(0o640)
    assert not system.file("/lib/systemd/system/throng.service").read_text().startswith("# Of the version before.")
    assert system.file(f"{DATA}/auth-secret").read_bytes() == secret
    assert system.file("/etc/systemd/system/multi-user.target.wants/throng.service").is_symlink()
    with Service(system) as service:
        assert history(service, "kept") == ["said before the upgrade"]


def test_an_upgrade_renews_a_configuration_that_nobody_has_changed(make_chroot, deb, before):
    system = make_chroot()
    install(system, before)
    assert system.file(CONFIGURATION).read_text().startswith("## Of the version before.")
    # Who has switched it off, as `systemctl disable` does, does not have it switched on.
    system.file("/etc/systemd/system/multi-user.target.wants/throng.service").unlink()
    install(system, deb)
    assert not system.file(CONFIGURATION).read_text().startswith("## Of the version before.")
    assert rights(system, CONFIGURATION) == ("root:throng", "0o640")
    assert not system.file("/etc/systemd/system/multi-user.target.wants/throng.service").exists()


def test_removing_keeps_data_and_configuration_and_purging_the_data(make_chroot, deb):
    system = make_chroot()
    install(system, deb)
    with Service(system) as service:
        chat(service, "kept", "said before the removal")
    system.run("apt-get", "remove", "-y", "-qq", "throng")
    assert not system.file("/usr/bin/throng").exists()
    assert system.file(CONFIGURATION).exists() and system.file(f"{DATA}/throng.db").exists()
    system.run("apt-get", "purge", "-y", "-qq", "throng")
    assert status(system).split()[:1] in ([], ["not-installed"])
    assert not system.file(CONFIGURATION).exists() and system.file(f"{DATA}/throng.db").exists()
    # A new installation goes on with it.
    install(system, deb)
    with Service(system) as service:
        assert history(service, "kept") == ["said before the removal"]


def test_purging_removes_the_data_where_somebody_says_so(make_chroot, deb):
    system = make_chroot()
    install(system, deb)
    other = system.file("/var/lib/throng@shop")
    other.mkdir()
    system.file("/etc/throng/shop.yaml").write_text("dataDir: /var/lib/throng@shop\n")
    system.run("debconf-set-selections", stdin="throng throng/remove-data boolean true\n")
    system.run("apt-get", "purge", "-y", "-qq", "throng")
    for path in (DATA, "/var/lib/throng@shop", "/etc/throng"):
        assert not system.file(path).exists(), path
    # The user stays, as everywhere in Debian, and debconf has forgotten the answer.
    assert "throng:" in system.file("/etc/passwd").read_text()
    assert "throng/remove-data" not in system.file("/var/cache/debconf/config.dat").read_text()


def test_the_service_runs_for_a_second_application(make_chroot, deb):
    """throng@NAME, with the configuration that Operations.md tells to make."""
    system = make_chroot()
    install(system, deb)
    text = system.run("throng", "config", "example")
    text = re.sub(r"^# dataDir: .*", "dataDir: /var/lib/throng@shop", text, flags=re.M)
    system.file("/etc/throng/shop.yaml").write_text(text)
    unit = system.file("/lib/systemd/system/throng@.service")
    # As systemd fills it in.
    unit.with_name("throng@shop.service").write_text(unit.read_text().replace("%i", "shop"))
    system.run("install", "-d", "-o", "throng", "-g", "throng", "-m", "0700", "/var/lib/throng@shop")
    with Service(system, "/lib/systemd/system/throng@shop.service") as service:
        chat(service, "shop", "Hello!")
    assert system.file("/var/lib/throng@shop/throng.db").exists() and not system.file(f"{DATA}/throng.db").exists()


@pytest.mark.skipif(not shutil.which("lintian"), reason="there is no lintian")
def test_lintian_finds_no_error(deb):
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", deb], capture_output=True, text=True, timeout=600)
    print(done.stdout)
    assert done.returncode == 0 and "E: " not in done.stdout, done.stdout
