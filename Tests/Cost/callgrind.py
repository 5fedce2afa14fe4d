"""Callgrind's files as numbers: what each function executed itself, and how often who called
whom."""
import re
from collections import Counter

NAME = re.compile(r"\((\d+)\)(?: (.*))?")
# How deep in a recursion, and the version of a symbol of a shared library.
ADDITION = re.compile(r"('\d+|@.*)$")

# Where all memory comes from: swift_slowAlloc, operator new and strdup end here.
ALLOCATORS = {"malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign"}


class Profile:
    """Instructions by (object, function) and calls by (caller, called)."""

    def __init__(self, own=(), calls=()):
        self.own = Counter(own)
        self.calls = Counter(calls)

    @classmethod
    def read(cls, path):
        """One file, written with neither --dump-instr nor --separate-threads."""
        self, names = cls(), {}

        def name(kind, text):
            number, given = NAME.fullmatch(text).groups()
            if given is not None:
                names[kind, number] = ADDITION.sub("", given) if kind == "fn" else given
            return names[kind, number]

        here, called_object, called, count = [None, None], None, None, None
        with open(path) as lines:
            for line in lines:
                line = line.rstrip("\n")
                key, separator, value = line.partition("=")
                if separator and key in ("ob", "fn"):
                    here[key == "fn"] = name(key, value)
                elif key == "cob":
                    called_object = name("ob", value)
                elif key == "cfn":
                    called = name("fn", value)
                elif key == "calls":
                    count = int(value.split()[0])
                elif line and line[0] in "0123456789+-*":
                    if count is None:
                        self.own[tuple(here)] += int(line.split()[1])
                    else:  # the line behind `calls=` has what the called ones executed
                        self.calls[tuple(here), (called_object or here[0], called)] += count
                        called_object, count = None, None
        return self

    def __sub__(self, other):
        own, calls = Counter(self.own), Counter(self.calls)
        own.subtract(other.own)
        calls.subtract(other.calls)
        return Profile(own, calls)

    def __truediv__(self, number):
        return Profile({k: n / number for k, n in self.own.items()}, {k: n / number for k, n in self.calls.items()})

    @property
    def instructions(self):
        return sum(self.own.values())

    def calls_to(self, *names):
        """How often functions of these names were called by others than these."""
        return sum(n for (caller, called), n in self.calls.items() if called[1] in names and caller[1] not in names)

    @property
    def turns(self):
        """Turns of the loops. One costs some hundred instructions, and how many there are goes by time."""
        return self.calls_to("before_poll")

    @property
    def ticks(self):
        """Ticks of the loops, which come ten times a second, however slow the machine is."""
        return self.calls_to("on_tick")

    @property
    def allocations(self):
        return self.calls_to(*ALLOCATORS)

    @property
    def locks(self):
        """Locks of pthread; Swift's own (Mutex) show as Swift code."""
        return self.calls_to("pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_spin_lock")

    @property
    def swift(self):
        """The instructions of each function of Swift code and of Swift's runtime."""
        return [n for (file, function), n in self.own.items() if "/libswift" in file or function.startswith(("$s", "swift_"))]
