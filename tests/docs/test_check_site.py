"""`tools/check-site` finds what is wrong with a built site."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check-site"
INDEX = """<ul><li class="toctree-l1"><a href="a.html">A</a></li></ul>
<a href="a.html#here">here</a> <a href="https://example.org/x">out</a> <img src="b.png?v=1">
<h1 id="top">Top</h1>"""
PAGE = '<a href="index.html#top">up</a> <a href="#here">here</a> <h1 id="here">A</h1>'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "b.png").write_bytes(b"")
    return tmp_path


def checked(site):
    command = [sys.executable, str(SCRIPT), str(site)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_a_site_without_faults(site):
    assert checked(site) == (0, [])


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ('<a href="c.html">c</a>', "no file of the link c.html"),
        ('<img src="c.png">', "no file of the link c.png"),
        ('<a href="index.html#bottom">c</a>', "no anchor of the link index.html#bottom"),
        ('<a href="#bottom">c</a>', "no anchor of the link #bottom"),
        ("." * (2 << 20), "2.0 MB"),
    ],
)
def test_faults_of_a_page(site, added, said):
    (site / "a.html").write_text(PAGE + added)
    assert checked(site) == (1, [f"a.html: {said}"])


def test_pages_of_notebooks_may_be_large(site):
    (site / "a.html").write_text(PAGE + '<div class="cell_output">' + "." * (2 << 20) + "</div>")
    assert checked(site) == (0, [])


def test_a_page_in_no_table_of_contents(site):
    (site / "b.html").write_text("<h1>B</h1>")
    (site / "a.html").write_text(PAGE + '<a href="b.html">a link in the text is not enough</a>')
    assert checked(site) == (1, ["b.html: in no table of contents"])


def test_no_site(tmp_path):
    assert checked(tmp_path)[0] == 2
