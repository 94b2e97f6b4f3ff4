"""Sheets that a person fills in, and the design of an audit, kept in a file beside the sheet.

A sheet may come back sorted, with rows lost and columns gained, or saved by a spreadsheet, which writes numbers and
dates in its own way. Rows are known by the column `row`; a cell that says something else than it did is refused by
name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from purely.audit import AuditSample
from purely.cli._session import CommandError
from purely.files import replacing, shown
from purely.label_words import as_number
from purely.tables import TableSource, writing_table
from purely.tables.errors import listed
from purely.typing import Floats

#: What the design's file is called, after the sheet's.
ENDING = ".design"
#: First words of a design, so that other files are told from one.
KIND = "purely audit design 1"
#: A spreadsheet shows ten digits of a number, and writes what it shows.
DIGITS = 1e-8
#: Ways in which dates are written, day or month first: whichever gives the same day is taken.
DATES = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y")
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S")


@dataclass(frozen=True)
class Sheet:
    """Rows that are to be labelled, as they were in the pool.

    Attributes
    ----------
    columns : list of str
        Columns of the pool that the sheet shows.
    cells : list of list
        Texts of each row, or None where a cell is empty.
    row, label : str
        Names of the columns with the record's number in the pool, and with the label.
    """

    columns: list[str]
    cells: list[list[str | None]]
    row: str
    label: str

    def texts(self) -> dict[str, pa.Array]:
        """The cells by column."""
        return {name: pa.array([row[j] for row in self.cells], pa.string()) for j, name in enumerate(self.columns)}


@dataclass(frozen=True)
class Design:
    """How an audit was drawn.

    Attributes
    ----------
    sample : AuditSample
    probability : ndarray of shape (n_pool,)
        What the model says of the pool.
    number : list of int
        The record's number in the pool's file of each row that was drawn, from 1.
    sheet : Sheet
    model, digest, pool : str
        The model's file and its digest, and the pool's file.
    """

    sample: AuditSample
    probability: Floats
    number: list[int]
    sheet: Sheet
    model: str
    digest: str
    pool: str


def design_path(sheet: Path) -> Path:
    """Where the design of a sheet is."""
    return sheet.with_name(sheet.name + ENDING)


def write_design(path: Path, design: Design) -> None:
    """Write a design: numbers as arrays, all else as one JSON text."""
    names = ("number", "model", "digest", "pool")
    said = {name: getattr(design, name) for name in names} | {"kind": KIND, "sheet": asdict(design.sheet)}
    said |= {"n_pool": design.sample.n_pool, "key": design.sample.key}
    arrays = {name: getattr(design.sample, name) for name in ("index", "inclusion", "round")}
    arrays |= {"probability": design.probability.astype(np.float32)}
    arrays |= {"said": np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)}
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_design(sheet: Path) -> Design:
    """Read the design of a sheet."""
    path = design_path(sheet)
    if not path.is_file():
        others = listed((other.name for other in sorted(sheet.parent.glob(f"*{ENDING}"))), 3)
        raise CommandError(
            f"the design of {shown(sheet, 120)!r} is missing: 'purely audit draw' has written it to "
            f"{shown(path.name, 120)!r}, and without it the labels cannot be read. "
            + (f"The folder has {others}: give the sheet the name again that it had." if others else "")
            + ("" if others else "Put both into one folder.")
        )
    try:
        with np.load(path, allow_pickle=False) as file:
            said = json.loads(file["said"].tobytes())
            q = np.round(file["probability"].astype(np.float64), 6)
            index, inclusion, number = (file[name] for name in ("index", "inclusion", "round"))
        if said["kind"] != KIND or not index.size == inclusion.size == number.size == len(said["number"]):
            raise ValueError
        sample = AuditSample(index.astype(np.intp), inclusion, number.astype(np.intp), said["n_pool"], said["key"])
        plan = Sheet(**said["sheet"])
        return Design(sample, q, said["number"], plan, said["model"], said["digest"], said["pool"])
    except Exception as error:
        raise CommandError(
            f"{shown(path, 120)!r} is damaged or no design of an audit; draw the audit again."
        ) from error


def write_sheet(path: Path, sheet: Sheet, number: list[int], probability: Floats | None, *, escape: bool) -> None:
    """Write rows with an empty label, and the probability where it was asked for."""
    columns = {sheet.row: pa.array(number, pa.int64()), **sheet.texts()}
    if probability is not None:
        columns["probability"] = pa.array(probability, pa.float64())
    columns[sheet.label] = pa.array([None] * len(number), pa.string())
    with writing_table(path, escape_formulas=escape) as writer:
        for batch in pa.table(columns).to_batches():
            writer.write(batch)


def cell_text(value: object) -> str | None:
    """A cell as the sheet shows it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def read_sheets(sources: list[TableSource], design: Design) -> tuple[NDArray[np.object_], int]:
    """Labels in the order of the design, None where a row or its label is missing; and how many rows are missing."""
    place: dict[float | None, int] = {number: k for k, number in enumerate(design.number)}
    labels = np.full(len(design.number), None, dtype=object)
    met: dict[int, str] = {}
    for source in sources:
        source.check_columns([design.sheet.row, design.sheet.label], "column")
        shared = [name for name in design.sheet.columns if name in set(source.names)]
        for batch in source.batches([design.sheet.row, design.sheet.label, *shared]):
            for number, label, *cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if all(_empty(cell) for cell in (number, label, *cells)):
                    continue  # spreadsheets leave empty lines behind
                k = _row(number, place, source.name, design)
                if k in met:
                    raise CommandError(f"row {design.number[k]} is in {source.name} twice; keep one of them.")
                met[k] = source.name
                _check_cells(dict(zip(shared, cells, strict=True)), k, source.name, design)
                labels[k] = label
    return labels, len(labels) - len(met)


def _row(number: object, place: Mapping[float | None, int], name: str, design: Design) -> int:
    found = place.get(as_number(str(number)))
    if found is None:
        raise CommandError(
            f"{name} has a row {shown(number)!r} in the column {design.sheet.row!r}, which was not drawn; the sheet "
            "belongs to another audit, or the number was changed."
        )
    return found


def _check_cells(cells: dict[str, object], k: int, name: str, design: Design) -> None:
    """Refuse a row that says something else than when it was drawn."""
    for column, now in cells.items():
        before = design.sheet.cells[k][design.sheet.columns.index(column)]
        if not same_cell(before, now):
            raise CommandError(
                f"row {design.number[k]} of {name} was changed: {shown(column)!r} was {shown(before)!r} and is "
                f"{shown(now)!r} now. Put it back; only the column {design.sheet.label!r} is to be filled in."
            )


def same_cell(before: object, now: object) -> bool:
    """Whether two cells say the same, however a spreadsheet writes numbers, dates, truth values and empty cells."""
    first, second = ("" if _empty(c) else " ".join(str(cell_text(c)).split()) for c in (before, now))
    if first.lstrip("'") == second.lstrip("'"):
        return True
    one, other = _number(first), _number(second)
    if one is not None and other is not None:
        return math.isclose(one, other, rel_tol=DIGITS, abs_tol=1e-12)
    return bool(_dates(first) & _dates(second))


def _empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell)) or not str(cell).strip()


def _number(text: str) -> float | None:
    said = {"true": "1", "false": "0"}.get(text.casefold(), text)
    return as_number(said.replace(",", ".") if said.count(",") == 1 else said)


def _dates(text: str) -> set[datetime]:
    """All moments that a text can mean."""
    found = set()
    for form in (day + time for day in DATES for time in TIMES):
        with suppress(ValueError):
            found.add(datetime.strptime(text, form))
    return found
