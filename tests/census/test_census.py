"""Every public function is classified, what is differentiated is right, and the page says so."""

import pytest

from adjoint.rulekit import registry
from tests.census import sections
from tests.census.entries import BOTH, FAILING, REVERSE, SOURCE, UNCLASSIFIED, Entry
from tests.census.page import (
    INTRODUCTION,
    PAGE,
    VERSIONS,
    WRITTEN_FOR,
    counts,
    differences,
    read,
    section,
    table,
)

SECTIONS = {section.title: section for section in sections()}
TEXT = PAGE.read_text(encoding="utf-8")
TOLD = read(TEXT)
IS_WRITTEN_FOR_THESE = VERSIONS == WRITTEN_FOR


@pytest.mark.parametrize("title", SECTIONS)
def test_the_page_says_what_is_found(title):
    entries = list(SECTIONS[title].entries(TOLD[title]))
    assert not [f"{entry.name}: {entry.why}" for entry in entries if entry.kind == FAILING]
    assert not [
        entry.name
        for entry in entries
        if entry.kind == UNCLASSIFIED and (IS_WRITTEN_FOR_THESE or entry.name in TOLD[title])
    ]
    if IS_WRITTEN_FOR_THESE:
        told = TEXT[TEXT.index(f"\n## {title}\n") + 1 :]
        assert section(title, entries) == told.partition("\n\n## ")[0].rstrip("\n") + "\n", (
            "python -m tests.census writes it"
        )
    assert not differences({title: entries}, TEXT)


def census_of_the_page():
    return {
        title: [
            Entry(name, kind, "", registry.key_of(SECTIONS[title].names[name]))
            for name, (kind, _) in sorted(kinds.items())
            if name in SECTIONS[title].names
        ]
        for title, kinds in TOLD.items()
    }


@pytest.mark.skipif(not IS_WRITTEN_FOR_THESE, reason="names come and go")
def test_the_counts_of_the_page_are_those_of_its_sections():
    assert list(TOLD) == list(SECTIONS)
    assert TEXT.startswith(f"{INTRODUCTION}\n{table(census_of_the_page())}\n## ")


def test_the_counts_are_kept():
    found = counts(census_of_the_page())
    assert found[BOTH] + found[REVERSE] + found[SOURCE] >= 600
    assert found[BOTH] >= 350


@pytest.mark.skipif(not IS_WRITTEN_FOR_THESE, reason="names come and go")
def test_no_example_is_of_a_name_that_is_gone():
    unknown = {title: names for title, part in SECTIONS.items() if (names := part.unknown())}
    assert not unknown
