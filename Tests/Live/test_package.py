"""Scripts/package, without a release build and without a chroot: its words, what its helpers make of the program under
test, and the scripts of the package for Debian with programs that note their calls. Scripts/test-package tries the made
files."""
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from harness.server import BINARY, REPOSITORY, clean_environment, run_throng

PACKAGE, HELPERS = REPOSITORY / "Scripts/package", REPOSITORY / "Scripts/packaging"
INSTANT = "1790000000"
pytestmark = [pytest.mark.files, pytest.mark.one_process("it runs the program")]


def helper(name):
    sys.path.insert(0, str(HELPERS))
    try:
        spec = importlib.util.spec_from_file_location(f"packaging_{name}", HELPERS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(HELPERS))


# Its words


def package(*words, timeout=60, **variables):
    return subprocess.run(
        [PACKAGE, *map(str, words)], env=clean_environment(variables), capture_output=True, text=True, timeout=timeout)


@pytest.mark.parametrize("words", [["--rpm"], ["--version"], ["--version", "1-2"], ["--version", "v1"], ["--built"]])
def test_wrong_words_are_told(words):
    done = package(*words)
    assert done.returncode == 64 and done.stderr.startswith("package: ")


def test_a_directory_of_something_else_is_not_deleted(tmp_path):
    (tmp_path / "mine").write_text("x")
    done = package("--deb", "--built", tmp_path, "--into", tmp_path, SOURCE_DATE_EPOCH=INSTANT)
    assert done.returncode == 1 and "holds something else than packages" in done.stderr
    assert (tmp_path / "mine").read_text() == "x"


@pytest.mark.parametrize("part,directory", [("npm", "js"), ("wheel", "python")])
def test_a_client_that_is_not_there_is_refused_before_a_build(part, directory, tmp_path):
    """In a tree without it, which may be this one."""
    tree = tmp_path / "tree"
    (tree / "Scripts").mkdir(parents=True)
    shutil.copy(PACKAGE, tree / "Scripts/package")
    done = subprocess.run([tree / "Scripts/package", f"--{part}"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, f"package: --{part}: there is no Sources/Clients/{directory}\n")


def test_the_clients_are_packed_without_a_build_of_the_server(tmp_path):
    """Both, listed with their sums; the same bytes from the same sources. The wheel's build system comes from PyPI."""
    made = []
    for number in range(2):
        into = tmp_path / f"made-{number}"
        done = package("--npm", "--wheel", "--built", tmp_path / "nothing", "--into", into, timeout=300, SOURCE_DATE_EPOCH=INSTANT)
        assert done.returncode == 0, done.stderr
        made.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in into.iterdir()})
        sums = dict(reversed(line.split()) for line in (into / "SHA256SUMS").read_text().splitlines())
        assert sums == {name: digest for name, digest in made[-1].items() if name != "SHA256SUMS"}
    release = run_throng("version").stdout.removeprefix("throng ").strip()
    assert set(made[0]) == {"SHA256SUMS", f"throng-client-{release}.tgz", f"throng_client-{release}-py3-none-any.whl"}
    assert made[0] == made[1]


# Manual pages


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    directory = tmp_path_factory.mktemp("manual")
    subprocess.run(
        [sys.executable, "-B", HELPERS / "manpages.py", BINARY, directory], check=True,
        env=clean_environment({"SOURCE_DATE_EPOCH": INSTANT}))
    return {file.name: file.read_text() for file in directory.iterdir()}


def test_every_command_has_a_manual_page(manual):
    def commands(*words):
        shown = run_throng(*words, "--help").stdout
        below = re.findall(r"^  ([a-z]+)(?: \(default\))? +\S", shown.split("SUBCOMMANDS:")[1], re.M) if "SUBCOMMANDS:" in shown else []
        yield "-".join(["throng", *words])
        for name in below:
            yield from commands(*words, name)
    wanted = {f"{name}.1" for name in commands()} | {"throng.yaml.5"}
    assert set(manual) == wanted and len(wanted) > 25


def test_a_manual_page_has_what_the_help_has(manual):
    def plain(text):
        return re.sub(r"\\f[BRI]|\\&", "", text).replace("\\-", "-").replace("\\(aq", "'").replace("\\(ga", "`").replace("\\e", "\\")
    page = plain(manual["throng-token-make.1"])
    for option in set(re.findall(r"--[a-z-]+", run_throng("token", "make", "--help").stdout)):
        assert option in page, option
    assert '.TH "THRONG-TOKEN-MAKE" "1" "2026-09-21"' in page and "throng token make user" in page
    keys = re.findall(r"^# ([A-Za-z0-9.]+):", run_throng("config", "example").stdout, re.M)
    assert len(keys) > 80
    configuration = plain(manual["throng.yaml.5"])
    assert [key for key in keys if f"\n{key}:" not in configuration] == []


@pytest.mark.skipif(not shutil.which("man"), reason="there is no man")
def test_man_has_nothing_to_say_of_the_pages(manual, tmp_path):
    for name, text in manual.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", *(tmp_path / name for name in manual)], capture_output=True, text=True,
        env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "100"})
    assert done.returncode == 0 and done.stderr == "" and "The public listener" in done.stdout


def test_a_version_of_the_parser_that_is_not_known_is_refused(tmp_path):
    program = tmp_path / "throng"
    program.write_text("#!/bin/sh\necho '{\"serializationVersion\":1}'\n")
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-B", HELPERS / "manpages.py", program, tmp_path / "pages"], capture_output=True, text=True,
        env=clean_environment({"SOURCE_DATE_EPOCH": INSTANT}))
    assert done.returncode != 0 and "in version 1, not 0" in done.stderr


@pytest.mark.parametrize("shell,words", [("bash", "complete -o"), ("zsh", "#compdef throng"), ("fish", "complete -c")])
def test_the_program_writes_completions(shell, words):
    assert words in run_throng("--generate-completion-script", shell).stdout


# What is in it


@pytest.fixture
def scratch(tmp_path):
    """A directory of SwiftPM with two packages, one of them with a notice."""
    rows = [("swift-log", "swift-log", "apple/swift-log", "1.16.2", "License", "NOTICE.txt"), ("yams", "Yams", "jpsim/Yams", "6.2.2", "MIT text", None)]
    dependencies = []
    for identity, name, place, version, text, notice in rows:
        checkout = tmp_path / "checkouts" / name
        checkout.mkdir(parents=True)
        (checkout / "LICENSE.txt").write_text(text)
        if notice:
            (checkout / notice).write_text("The notice")
        dependencies.append({
            "packageRef": {"identity": identity, "name": name, "location": f"https://github.com/{place}.git"},
            "state": {"checkoutState": {"version": version}}, "subpath": name})
    (tmp_path / "workspace-state.json").write_text(json.dumps({"object": {"dependencies": dependencies}}))
    return tmp_path


def test_the_licences_of_what_is_compiled_in_are_told(scratch):
    done = subprocess.run([sys.executable, "-B", HELPERS / "copyright.py", scratch], capture_output=True, text=True, check=True)
    assert "swift-log 1.16.2 (https://github.com/apple/swift-log)\nLicense: Apache-2.0\n" in done.stdout
    assert "    The notice" in done.stdout and "Yams 6.2.2" in done.stdout and "    MIT text" in done.stdout


def test_every_dependency_has_its_licence():
    pinned = re.findall(r'\.package\(url: "https://github.com/[^/]+/([^"]+)"', (REPOSITORY / "Package.swift").read_text())
    known = json.loads((HELPERS / "components.json").read_text())
    assert pinned and {name.lower().removesuffix(".git") for name in pinned} <= set(known)


@pytest.mark.parametrize("change,words", [
    (lambda row: row["packageRef"].update(identity="other"), "its licence is not in"), (lambda row: row.update(state={}), "is not pinned")])
def test_a_dependency_without_licence_or_version_is_refused(scratch, change, words):
    state = json.loads((scratch / "workspace-state.json").read_text())
    change(state["object"]["dependencies"][0])
    (scratch / "workspace-state.json").write_text(json.dumps(state))
    done = subprocess.run([sys.executable, "-B", HELPERS / "copyright.py", scratch], capture_output=True, text=True)
    assert done.returncode != 0 and words in done.stderr


@pytest.mark.skipif(not shutil.which("dpkg"), reason="there is no dpkg")
def test_the_list_of_parts_is_what_spdx_wants(scratch, tmp_path):
    """By the validator of SPDX's own library; made twice, it is the same."""
    pytest.importorskip("spdx_tools")
    if subprocess.run(["dpkg-query", "-W", "libwebsockets-evlib-ev"], capture_output=True).returncode:
        pytest.skip("libwebsockets is not a package of this machine")
    made = tmp_path / "made"
    made.mkdir()
    (made / "throng_0.2.0_amd64.deb").write_bytes(b"a package")
    texts = []
    for name in ("one", "two"):
        subprocess.run(
            [sys.executable, "-B", HELPERS / "sbom.py", "--program", BINARY, "--scratch", scratch, "--version", "0.2.0", "--swift", "6.3.1",
             "--directory", made, "--into", tmp_path / f"{name}.spdx.json"], check=True, env=clean_environment({"SOURCE_DATE_EPOCH": INSTANT}))
        texts.append((tmp_path / f"{name}.spdx.json").read_text())
    assert texts[0] == texts[1]
    script = "import sys; from spdx_tools.spdx.clitools.pyspdxtools import main; sys.argv = ['pyspdxtools', '-i', sys.argv[1]]; main()"
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "one.spdx.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(texts[0])
    (deb,) = [entry for entry in document["packages"] if entry.get("packageFileName")]
    assert deb["checksums"] == [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(b"a package").hexdigest()}]
    names = {entry["name"] for entry in document["packages"]}
    assert {"throng", "swift", "swift-log", "Yams", "libwebsockets17", "libcurl4", "libwebsockets-evlib-ev"} <= names
    assert "libc6" not in names, "every system has its own"


# The tarball


def test_glibc_is_every_systems_own():
    of_glibc = helper("components").OF_GLIBC
    for name in ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libnss_dns.so.2", "libpthread.so.0"):
        assert of_glibc.fullmatch(name), name
    for name in ("libcurl.so.4", "libcrypto.so.3", "libcap.so.2", "libmd.so.0", "libwebsockets.so.17"):
        assert not of_glibc.fullmatch(name), name


def test_the_place_of_plugins_is_replaced_once_and_in_its_length(tmp_path):
    relocate, library = helper("relocate"), tmp_path / "lib.so"
    directory = "/usr/lib/x86_64-linux-gnu"
    library.write_bytes(b"before\0" + directory.encode() + b"\0after\0" + directory.encode() + b"/more\0")
    size = library.stat().st_size
    relocate.point_to_opened(library, directory)
    content = library.read_bytes()
    assert len(content) == size and content.startswith(b"before\0/proc/self/fd/9\0") and content.endswith(b"\0after\0" + directory.encode() + b"/more\0")
    for other in (b"nothing", b"\0" + directory.encode() + b"\0" + directory.encode() + b"\0"):
        library.write_bytes(other)
        with pytest.raises(ValueError, match="does not name"):
            relocate.point_to_opened(library, directory)


def test_the_launcher_finds_its_place_by_any_name(tmp_path):
    for name in ("bin", "lib", "libexec"):
        (tmp_path / "there" / name).mkdir(parents=True)
    (tmp_path / "there/lib/marker").touch()
    shutil.copy(HELPERS / "launcher", tmp_path / "there/bin/throng")
    program = tmp_path / "there/libexec/throng"
    program.write_text('#!/bin/sh\nls /proc/self/fd/9/ && echo "$@" && exit 3\n')
    program.chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "there/bin/throng")
    done = subprocess.run([tmp_path / "link", "serve", "a b"], cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "marker\nserve a b\n"), done.stderr


# The scripts of the package for Debian


class Scripts:
    """They run with programs that note their calls, and with directories of the test's in place of the system's."""

    def __init__(self, directory):
        self.directory, self.calls = directory, directory / "calls"
        self._programs = directory / "programs"
        self._programs.mkdir()
        for name in ("adduser", "chown", "systemctl", "deb-systemd-helper", "deb-systemd-invoke", "dpkg-statoverride"):
            self.program(name, "exit 1" if name == "dpkg-statoverride" else "")
        for name in ("data", "etc", "run"):
            (directory / name).mkdir()
        (directory / "data/throng.db").touch()
        (directory / "etc/throng.yaml").touch()
        self.answer("false")

    def program(self, name, ending):
        file = self._programs / name
        file.write_text(f'#!/bin/sh\necho "${{0##*/}} $*" >> {self.calls}\n{ending}\n')
        file.chmod(0o755)

    def answer(self, word):
        (self.directory / "confmodule").write_text(
            f"db_version() {{ :; }}\ndb_stop() {{ :; }}\ndb_go() {{ :; }}\ndb_purge() {{ :; }}\ndb_input() {{ return 30; }}\n"
            f"db_get() {{ RET={word}; }}\n")

    def run(self, name, *words):
        text = (HELPERS / "debian" / name).read_text()
        for there, here in (("/usr/share/debconf/confmodule", "confmodule"), ("/var/lib/throng", "data"), ("/etc/throng", "etc"),
                            ("/run/systemd/system", "run")):
            text = text.replace(there, str(self.directory / here))
        done = subprocess.run(
            ["dash", "-s", *words], input=text, env={"PATH": f"{self._programs}:{os.environ['PATH']}"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        called = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return called


@pytest.fixture
def scripts(tmp_path):
    if not shutil.which("dash"):
        pytest.skip("there is no dash")
    return Scripts(tmp_path)


def test_a_first_installation_makes_the_user_and_starts(scripts):
    called = scripts.run("postinst", "configure", "")
    assert any(line.startswith("adduser ") and "--system" in line and line.endswith(" throng") for line in called)
    assert f"chown root:throng {scripts.directory}/etc/throng.yaml" in called
    assert "deb-systemd-helper enable throng.service" in called and "deb-systemd-invoke start throng.service" in called


def test_an_upgrade_restarts_and_leaves_the_rights_of_the_configuration(scripts):
    scripts.program("systemctl", 'case "$*" in *list-units*) echo "throng@shop.service loaded active running x" ;; esac')
    called = scripts.run("postinst", "configure", "0.1.9")
    assert "deb-systemd-invoke restart throng.service" in called and "deb-systemd-invoke restart throng@shop.service" in called
    assert not [line for line in called if "throng.yaml" in line] and "deb-systemd-invoke start throng.service" not in called


def test_who_has_disabled_it_keeps_it_disabled(scripts):
    scripts.program("deb-systemd-helper", 'case "$*" in *was-enabled*) exit 1 ;; esac')
    called = scripts.run("postinst", "configure", "0.1.9")
    assert "deb-systemd-helper update-state throng.service" in called and "deb-systemd-helper enable throng.service" not in called


def test_a_removal_stops_it_and_an_upgrade_does_not(scripts):
    assert "deb-systemd-invoke stop throng.service" in scripts.run("prerm", "remove")
    assert scripts.run("prerm", "upgrade", "0.3.0") == []


def test_a_purge_removes_the_data_only_where_somebody_says_so(scripts):
    data, other = scripts.directory / "data", scripts.directory / "data@shop"
    other.mkdir()
    scripts.run("postrm", "remove")
    scripts.run("postrm", "purge")
    assert (data / "throng.db").exists() and other.exists() and (scripts.directory / "etc").exists()
    scripts.answer("true")
    scripts.run("postrm", "upgrade", "0.3.0")
    assert (data / "throng.db").exists()
    scripts.run("postrm", "purge")
    assert not data.exists() and not other.exists() and not (scripts.directory / "etc").exists()
    # Without debconf nobody can be asked.
    data.mkdir()
    (scripts.directory / "confmodule").unlink()
    scripts.run("postrm", "purge")
    assert data.exists()


def test_the_package_names_what_its_scripts_call():
    control = (HELPERS / "debian/control").read_text()
    depends = PACKAGE.read_text()
    assert "@DEPENDS@" in control
    for name in ("adduser", "init-system-helpers", "debconf", "libwebsockets-evlib-ev"):
        assert name in re.search(r"depends=\"\$\{depends#[^\n]*", depends)[0], name
    assert (HELPERS / "debian/conffiles").read_text() == "/etc/throng/throng.yaml\n"
    assert "Default: false" in (HELPERS / "debian/templates").read_text()


def test_the_units_differ_in_their_places_alone():
    one, many = [(REPOSITORY / "Scripts/deploy" / name).read_text().split("[Unit]")[1] for name in ("throng.service", "throng@.service")]
    filled = many.replace(" for %i", "").replace("throng@%i", "throng").replace("/etc/throng/%i.yaml", "/etc/throng/throng.yaml")
    assert filled == one and many != one and "%i" not in filled
