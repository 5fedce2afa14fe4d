"""The package for Debian 12 on a system that runs systemd, which starts and restarts the service by itself: the
commands of README.md and of Operations.md, "Several applications on one machine", as they stand there."""
import re
import shutil
import textwrap

import pytest

from conftest import REPOSITORY
from test_deb import install

PAGE = REPOSITORY / "Sources/ThrongServer/Documentation.docc/Operations.md"


def first_message():
    """What README.md does in place of a browser."""
    text = (REPOSITORY / "README.md").read_text()
    (lines,) = re.findall(r"^    token=.*\n(?:    rpc.*\n)+", text, re.M)
    return textwrap.dedent(lines)


def second_application():
    text = PAGE.read_text().split("### Several applications on one machine")[1].split("\n### ")[0]
    (block,) = re.findall(r"^    throng config example (?:.*\n)+?    systemctl enable --now throng@shop\n", text, re.M)
    return textwrap.dedent(block)


SCRIPT = """
exec 2>&1
state() { echo "STATE $1 $(systemctl is-active "$2")"; }
pid() { systemctl show --value -p MainPID "$1"; }
sudo() { if [ "$1" = -u ]; then setpriv --reuid="$2" --regid="$2" --clear-groups "${@:3}"; else "$@"; fi; }
state boot throng
@first_message@
before="$(pid throng)"
dpkg -i /new.deb
state upgrade throng
[ "$(pid throng)" != "$before" ] && echo "STATE restarted yes"
rpc '{"jsonrpc":"2.0","id":4,"method":"getGroupHistoryMessageList","params":{"groupID":"tea","asUser":"alice"}}'
@second_application@
state second throng@shop
after="$(pid throng)"
systemctl reload throng
state reload throng
[ "$(pid throng)" = "$after" ] && echo "STATE reloaded yes"
systemd-analyze security throng.service --no-pager | tail -1
DEBIAN_FRONTEND=noninteractive apt-get remove -y throng
state removed throng
state removed-second throng@shop
pgrep -x throng || echo "STATE processes none"
journalctl -b -u throng -u throng@shop --no-pager -o cat
"""


@pytest.mark.skipif(not shutil.which("systemd-nspawn"), reason="there is no systemd-nspawn")
def test_systemd_starts_upgrades_and_stops_it(make_chroot, deb, before):
    system = make_chroot("bookworm", "systemd", "systemd-sysv", "dbus", "curl", "procps")
    install(system, before)
    shutil.copyfile(deb, system.file("/new.deb"))
    printed = system.boot(SCRIPT.replace("@first_message@", first_message()).replace("@second_application@", second_application()))
    if printed is None:
        pytest.skip("systemd does not start in a container here")
    found = dict(re.findall(r"^STATE (\S+) (\S+)$", printed, re.M))
    assert found == {
        "boot": "active", "upgrade": "active", "restarted": "yes", "second": "active", "reload": "active", "reloaded": "yes",
        "removed": "inactive", "removed-second": "inactive", "processes": "none"}, printed
    # The message is there, before the upgrade and behind it.
    assert printed.count('"text":"Hello!"') == 2 and '"error"' not in printed, printed
    assert '"level":"error"' not in printed and '"level":"critical"' not in printed, printed
