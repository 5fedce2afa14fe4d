"""How fast figures grow with the members of a group."""
import math

# Below so many milliseconds a figure is the machine's.
FLOOR = 0.5
# What measurements vary by. A sort, which is n log n, stays below it from 1,000 members to 100,000.
TOLERANCE = 0.25


def power(members, figures, floor=FLOOR):
    """The largest power of the members by which figures grow from one size to the next; None where there are no two.

    1 is growth with the members, 2 with their square. A figure of None was not measured.
    """
    known = [(count, max(figure, floor)) for count, figure in zip(members, figures, strict=True) if figure is not None]
    found = [math.log(after / before) / math.log(larger / smaller)
             for (smaller, before), (larger, after) in zip(known, known[1:])]
    return max(found, default=None)


def is_faster(found):
    """Whether it grows faster than the members."""
    return found is not None and found > 1 + TOLERANCE
