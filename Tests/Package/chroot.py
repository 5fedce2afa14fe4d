"""Root file systems of other systems, in which packages are tried: chroots that mmdebstrap makes, each removed at its end."""
import shutil
import subprocess
from pathlib import Path

# Made once, and unpacked for each test.
CACHE = Path(__file__).resolve().parents[2] / ".build-package-test"
# Devices and processes are there while a command runs, in a mount namespace of its own: nothing is left mounted.
ENTER = 'mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc" && root="$1" && shift && exec chroot "$root" "$@"'
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


def base(suite, *packages):
    """The archive of a system with nothing but apt, as a newcomer's machine may be, and these packages."""
    CACHE.mkdir(exist_ok=True)
    name = "-".join([suite, *packages])
    made = CACHE / f"{name}.tar"
    if not made.exists():
        part = CACHE / f"{name}.part.tar"
        more = [f"--include={','.join(packages)}"] if packages else []
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", *more, suite, part], check=True, timeout=900)
        part.rename(made)
    return made


class Chroot:
    def __init__(self, archive, directory):
        self.root = Path(directory)
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "--numeric-owner", "-xf", archive], check=True)
        for name in ("dev", "proc"):
            (self.root / name).mkdir(exist_ok=True)
        # Names are resolved as on this machine.
        if (self.root / "etc").is_dir():
            shutil.copyfile("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def command(self, *words):
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", str(self.root), *map(str, words)]

    def try_to_run(self, *words, stdin=None):
        return subprocess.run(self.command(*words), env=ENVIRONMENT, capture_output=True, text=True, input=stdin, timeout=600)

    def run(self, *words, stdin=None):
        """The standard output of a command that has to succeed."""
        done = self.try_to_run(*words, stdin=stdin)
        assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def start(self, *words, **options):
        return subprocess.Popen(self.command(*words), env={**ENVIRONMENT, **options.pop("environment", {})}, text=True, **options)

    def boot(self, script, patience=300):
        """Starts systemd here, in a network of its own, has it run a script as root and end; gives what the script
        printed, or None where no system can be started on this machine."""
        self.file("/script").write_text(script)
        self.file("/etc/systemd/system/script.service").write_text(
            "[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nExecStart=/bin/bash /script\nStandardOutput=file:/printed\n"
            "StandardError=inherit\nExecStopPost=/bin/systemctl --no-block poweroff\n")
        wanted = self.file("/etc/systemd/system/default.target.wants")
        wanted.mkdir(exist_ok=True)
        (wanted / "script.service").symlink_to("/etc/systemd/system/script.service")
        command = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--directory", self.root, "--boot"]
        with open(self.root.parent / "boot.log", "w") as log:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=patience)
        printed = self.file("/printed")
        return printed.read_text() if printed.exists() else None

    def bring(self, file):
        """The path, inside, of a copy of a file."""
        shutil.copyfile(file, self.root / file.name)
        return f"/{file.name}"

    def file(self, path):
        return self.root / str(path).lstrip("/")

    def remove(self):
        shutil.rmtree(self.root)
