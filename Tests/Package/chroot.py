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


def base(suite):
    """The archive of a system with nothing but apt, as a newcomer's machine may be."""
    CACHE.mkdir(exist_ok=True)
    made = CACHE / f"{suite}.tar"
    if not made.exists():
        part = CACHE / f"{suite}.part.tar"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", suite, part], check=True, timeout=900)
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

    def bring(self, file):
        """The path, inside, of a copy of a file."""
        shutil.copyfile(file, self.root / file.name)
        return f"/{file.name}"

    def file(self, path):
        return self.root / str(path).lstrip("/")

    def remove(self):
        shutil.rmtree(self.root)
