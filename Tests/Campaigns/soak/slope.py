"""Whether a series of measurements rises, by more than it varies."""
import math
from dataclasses import dataclass

# Two-sided, of the normal distribution: one series in a hundred that is flat looks steep to one side or the other.
QUANTILE = 2.576
# So few say nothing.
LEAST = 8


@dataclass(frozen=True)
class Trend:
    """A straight line through measurements: per hour, with the bounds between which the slope is with 99 %."""

    count: int
    hours: float
    level: float
    slope: float
    least: float
    most: float

    @property
    def growth(self):
        """From the first measurement to the last, as the line has it."""
        return self.slope * self.hours


def trend(points):
    """By Theil and Sen: the median of the slopes between all pairs, which a few outliers do not move; the bounds are
    those of Kendall's rank correlation. `points`: (hours, value). None: they are too few, or all of one instant."""
    points = sorted(points)
    slopes = sorted(
        (later - earlier) / (end - start)
        for place, (start, earlier) in enumerate(points) for end, later in points[place + 1:] if end > start)
    if len(points) < LEAST or not slopes:
        return None
    count = len(points)
    spread = QUANTILE * math.sqrt(_variance([value for _, value in points], count))
    low = max(0, math.floor((len(slopes) - spread) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + spread) / 2))
    return Trend(
        count, points[-1][0] - points[0][0], median([value for _, value in points]), median(slopes), slopes[low], slopes[high])


def _variance(values, count):
    """Of Kendall's statistic where nothing rises; equal values tell nothing of a direction."""
    ties = {}
    for value in values:
        ties[value] = ties.get(value, 0) + 1

    def part(number):
        return number * (number - 1) * (2 * number + 5)

    return (part(count) - sum(part(number) for number in ties.values())) / 18


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def rises(found, share, amount):
    """Whether it surely goes up, and by more than may be: a share of the level, and so much in any case."""
    return found is not None and found.least > 0 and found.growth > max(share * abs(found.level), amount)
