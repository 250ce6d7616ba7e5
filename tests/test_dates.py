"""Dates and durations: constants beside floats, and no way for a derivative."""

from __future__ import annotations

import copy
from datetime import date, datetime, time, timedelta, timezone, tzinfo

import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient

START = datetime(2024, 2, 28, 22, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


def heated(x):
    """A quantity that is followed by the hour."""
    total, when = 0.0, START
    for _ in range(30):
        when = when + HOUR
        lasted = (when - START).total_seconds() / 3600
        total = 0.9 * total + x * lasted * (2.0 if 8 <= when.hour < 20 else 0.5)
        if when.weekday() >= 5 or when.date() == date(2024, 2, 29):
            total += x * x
    return total


def calendar(x):
    days = sorted({START.date() + k * timedelta(days=1) for k in range(5)}, reverse=True)
    share = {day: day.timetuple().tm_yday / 366 for day in days}
    noon = datetime.combine(days[0], time(12), timezone.utc)
    text = float(noon.strftime("%H")) + datetime.fromisoformat("2024-05-06").month
    gaps = [(noon - START) / HOUR, -HOUR // timedelta(minutes=7), abs(-HOUR).seconds % 11]
    span = sum([HOUR, HOUR * 2, 1.5 * HOUR], timedelta())
    return sum(share.values()) * x + text * x**2 + sum(gaps) * x + span.total_seconds() * x / 3600


class Shifted(tzinfo):
    """A zone of the user's own."""

    def utcoffset(self, when):
        return timedelta(hours=2)

    def dst(self, when):
        return timedelta()

    def tzname(self, when):
        return "two hours"


def in_a_zone(x):
    zone = Shifted()
    local = START.astimezone(zone)
    return x * local.hour + x * x


@pytest.mark.parametrize("f", [heated, calendar, in_a_zone])
def test_constants_beside_floats(f):
    check_gradient(f, 1.7)


class Counting(Shifted):
    asked = 0

    def utcoffset(self, when):
        self.asked += 1
        return timedelta(hours=2)


def test_a_zone_that_counts_is_refused():
    def f(x):
        zone = Counting()
        START.astimezone(zone)
        return x * zone.asked

    for run in (
        lambda: ad.gradient(f, 1.7),
        lambda: ad.pushforward(f, (1.7,), (1.0,)),
        lambda: ad.grad(f, tier="generic")(1.7),
    ):
        with pytest.raises(ad.MutationError, match="utcoffset' may store something"):
            run()


class Held:
    def __init__(self, lasting):
        self.lasting = lasting


def _in_a_closure(x):
    lasting = timedelta(seconds=x)
    return (lambda: lasting.total_seconds())()


THROUGH = {
    "seconds": lambda x: timedelta(seconds=x).total_seconds(),
    "a factor": lambda x: (HOUR * x).total_seconds(),
    "a factor first": lambda x: (x * HOUR).total_seconds(),
    "a quotient": lambda x: (HOUR / x) / HOUR,
    "a sum": lambda x: (START + timedelta(hours=x) - START).total_seconds(),
    "a timestamp": lambda x: datetime.fromtimestamp(x, timezone.utc).timestamp(),
    "an attribute": lambda x: timedelta(seconds=x).microseconds * x,
    "a list": lambda x: [timedelta(seconds=x)][0] / HOUR * x,
    "an object": lambda x: Held(timedelta(seconds=x)).lasting.total_seconds(),
    "a copy": lambda x: copy.copy(timedelta(seconds=x)).total_seconds(),
    "a deep copy": lambda x: copy.deepcopy([timedelta(seconds=x)])[0].total_seconds(),
    "a copied date": lambda x: copy.copy(START + timedelta(seconds=x)).timestamp(),
    "a closure": _in_a_closure,
    "the greatest": lambda x: max(timedelta(seconds=x), timedelta()).total_seconds(),
    "a total": lambda x: sum([timedelta(seconds=x), HOUR], timedelta()).total_seconds(),
    "a key": lambda x: next(iter({timedelta(seconds=x): 1.0})).total_seconds(),
}


@pytest.mark.parametrize("name", THROUGH)
def test_numbers_in_durations_are_refused(name):
    with pytest.raises(NoDerivativeError):
        ad.gradient(THROUGH[name], 2.5)


def test_numbers_in_durations_that_nothing_needs():
    def late(x):
        return x if timedelta(seconds=x) > timedelta(seconds=1) else -x

    assert ad.gradient(late, 2.5) == (1.0,)
    assert ad.gradient(lambda x: x * len(str(timedelta(seconds=x))), 2.5) == (14.0,)


def test_copies():
    def f(x):
        when = copy.deepcopy({"start": START, "every": HOUR, "day": START.date(), "at": time(3)})
        assert when == {"start": START, "every": HOUR, "day": START.date(), "at": time(3)}
        assert when["start"] is not START
        return x * (copy.copy(when["every"]) + when["every"]).total_seconds()

    assert ad.gradient(f, 2.0) == (7200.0,)


SETTLED = date(2024, 3, 15)


def discounted(x, last=date(2029, 7, 1)):
    total, dates = 0.0, [date(y, m, 1) for y in range(2024, 2030) for m in (1, 7)]
    for day in dates:
        if day > SETTLED:
            t = (day - SETTLED).days / 365.25
            total += (2.5 + (100 if day == last else 0)) / (1 + x) ** t
    return total


def until_december(x):
    day, total = date(2024, 1, 31), 0.0
    while day < date(2024, 12, 31):
        total += (1 + x) ** (-(day - SETTLED).days / 365)
        day += timedelta(days=30)
    return total


@pytest.mark.parametrize("f", [heated, calendar, discounted, until_december])
def test_programs(f):
    for x in (0.04, 0.3):
        assert ad.gradient(f, x)[0] == pytest.approx(ad.grad(f, tier="generic")(x), rel=1e-12)
        report = ad.tier(f, x)
        assert (report.tier, report.opaque) == ("fast", ()) or f is calendar, report.reason
    check_gradient(f, 0.3)


def test_a_date_from_outside():
    def value(x, until):
        return (1 + x) ** ((until - SETTLED).days / 365)

    slope = ad.grad(value)
    for until in (date(2025, 1, 1), date(2026, 1, 1), date(2025, 1, 1)):
        years = (until - SETTLED).days / 365
        assert slope(0.1, until) == pytest.approx(years * 1.1 ** (years - 1))
