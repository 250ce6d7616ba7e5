"""Settings of Sphinx. `make docs` builds the site into docs/_build/html; every notebook is run."""

from __future__ import annotations

import os
import re
import sys
from functools import partialmethod
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from nbclient import NotebookClient

project = "Adjoint"
author = "The Adjoint authors"
copyright = "The Adjoint authors, MIT licence"
version = release = version_of("adjoint-ad")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx-mathjax-offline",  # formulas need no network
]
exclude_patterns = ["_build"]
root_doc = "index"
templates_path: list[str] = []

# ---- what the pages are written in ---------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "amsmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
# Output arrives in pieces, at moments of its own; myst-nb would end the line after each.
NotebookClient.__init__ = partialmethod(NotebookClient.__init__, coalesce_streams=True)

# Kernels run the checkout, not another copy that is installed, and write no bytecode beside it.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1] / "src"), os.environ.get("PYTHONPATH", "")]
)
os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")

# ---- the reference -------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types of the docstrings
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# ---- how it looks --------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "Adjoint"
html_static_path = ["_static"]
html_css_files = ["adjoint.css"]
html_theme_options = {
    "github_url": "https://github.com/adjoint-ad/adjoint",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
}
html_sidebars: dict[str, list[str]] = {"index": []}

_EXPECTED = re.compile(r"[ \t]*# → .*$", re.MULTILINE)
_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)


def _without_expectations(app: Any, docname: str, source: list[str]) -> None:
    """Take the results that tests compare (``# → 1.0``) out of cells, which show their own."""

    def plain(cell: re.Match[str]) -> str:
        lines = cell[0].splitlines()
        kept = [line for line in lines if not line.lstrip().startswith("# → ")]
        return _EXPECTED.sub("", "\n".join(kept))

    source[0] = _CELL.sub(plain, source[0])


_OUTSIDE = re.compile(r"\]\(\.\./((?!docs/)[^)]*)\)")
_REPOSITORY = "https://github.com/adjoint-ad/adjoint/blob/main/"


def _links_out_of_docs(app: Any, docname: str, source: list[str]) -> None:
    """Let links to files beside docs/ lead into the repository."""
    if "/" not in docname:
        source[0] = _OUTSIDE.sub(rf"]({_REPOSITORY}\1)", source[0])


def setup(app: Any) -> None:
    app.connect("source-read", _without_expectations)
    app.connect("source-read", _links_out_of_docs)
