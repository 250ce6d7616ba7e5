"""Functions and classes with type parameters, the syntax of Python 3.12."""

import sys
from pathlib import Path

if sys.version_info >= (3, 12):
    PATH = Path(__file__).with_name("type_parameters_312.txt")
    exec(compile(PATH.read_text(encoding="utf-8"), PATH, "exec"))
