"""Programs that read and write files on the way: what they do to these is no concern of ours."""

import csv
import gzip
import io
import json
import pathlib
import sqlite3
import tempfile
import zipfile
from xml.etree import ElementTree

import numpy as np

from tests.corpus.registry import case

FOLDER = tempfile.TemporaryDirectory()
DATA = pathlib.Path(FOLDER.name, "data.txt")
DATA.write_text("2.5\n3.5\n", encoding="utf-8")


@case(1.3)
def opened_and_closed(x):
    with open(DATA) as file:
        k = float(file.readline())
    other = open(DATA)
    m = float(other.readlines()[1])
    other.close()
    return k * x * x + m * x


@case(1.3)
def read_by_libraries(x):
    values = np.loadtxt(DATA)
    first = float(DATA.read_text().split()[0])
    return values.sum() * x + first * x * x


@case(1.3)
def written_and_read_again(x):
    path = pathlib.Path(FOLDER.name, "kept.json")
    with open(path, "w") as file:
        json.dump({"a": 1.5}, file)
        print(x, file=io.StringIO())
    with open(path) as file:
        return json.load(file)["a"] * x * x


@case(1.3)
def tables(x):
    rows = csv.DictReader(io.StringIO("a,b\n1.5,2.5\n"))
    return sum(float(row["b"]) for row in rows) * x * x


@case(1.3)
def marked_up(x):
    root = ElementTree.fromstring('<model k="2.5"><part w="0.5"/><part w="1.5"/></model>')
    return float(root.get("k")) * x + sum(float(part.get("w")) for part in root) * x * x


@case(1.3)
def packed(x):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", "1.5")
    with zipfile.ZipFile(buffer) as archive, archive.open("a") as member:
        k = float(member.read())
    return k * x * x + len(gzip.decompress(gzip.compress(b"abc"))) * x


@case(1.3)
def arrays_in_files(x):
    path = pathlib.Path(FOLDER.name, "kept.npz")
    np.savez(path, a=np.arange(3.0))
    with np.load(path) as kept:
        return kept["a"].sum() * x * x


@case(1.3)
def read_from_a_database(x):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table numbers (value real)")
    connection.executemany("insert into numbers values (?)", [(1.5,), (2.5,)])
    y = sum(value * x * x for (value,) in connection.execute("select value from numbers"))
    connection.close()
    return y
