"""Every public function is classified, what is differentiated is right, and the page says so."""

import pytest

from tests.census import sections, take
from tests.census.entries import BOTH, FAILING, REVERSE, SOURCE, UNCLASSIFIED
from tests.census.page import PAGE, VERSIONS, WRITTEN_FOR, counts, differences, read, text


@pytest.fixture(scope="module")
def census():
    return take()


def named(census, *kinds):
    return [
        f"{title}: {entry.name}: {entry.why}"
        for title, entries in census.items()
        for entry in entries
        if entry.kind in kinds
    ]


def test_no_gradient_is_wrong(census):
    assert not named(census, FAILING)


def test_the_page_is_current(census):
    page = PAGE.read_text(encoding="utf-8")
    if VERSIONS == WRITTEN_FOR:
        assert text(census) == page, "python -m tests.census writes it"
    assert not differences(census, page)


def test_nothing_is_unclassified(census):
    """But names that the versions of the page do not have."""
    told = read(PAGE.read_text(encoding="utf-8"))
    assert not [
        f"{title}: {entry.name}"
        for title, entries in census.items()
        for entry in entries
        if entry.kind == UNCLASSIFIED
        and (VERSIONS == WRITTEN_FOR or entry.name in told.get(title, {}))
    ]


def test_the_counts_are_kept(census):
    found = counts(census)
    assert found[BOTH] + found[REVERSE] + found[SOURCE] >= 600
    assert found[BOTH] >= 350


@pytest.mark.skipif(VERSIONS != WRITTEN_FOR, reason="names come and go")
def test_no_example_is_of_a_name_that_is_gone():
    unknown = {section.title: names for section in sections() if (names := section.unknown())}
    assert not unknown
