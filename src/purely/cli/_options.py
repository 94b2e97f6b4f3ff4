"""Options that mean the same in every command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

import typer
from typer.models import ArgumentInfo, OptionInfo

from purely.tables import Origin
from purely.tables.folder import FolderSource, find_files
from purely.tables.formats import FORMATS, open_table
from purely.tables.source import MAX_EXPANSION, Pair, TableSource

FileFormat = StrEnum("FileFormat", {name: name for name in FORMATS})  # type: ignore[misc]


#: What the unlabelled rows are.
Scenario = StrEnum("Scenario", {"case_control": "case-control", "single_sample": "single-sample"})
#: Where networks are trained.
Device = StrEnum("Device", ["auto", "cpu", "cuda"])


def _share(value: float | None) -> float | None:
    if value is not None and not 0.0 < value < 1.0:
        raise typer.BadParameter(f"must be strictly between 0 and 1; {value:g} was given.")
    return value


def flag(name: str, help: str) -> OptionInfo:
    """An option that is there or not."""
    return typer.Option(name, help=help)


def output(metavar: str, help: str) -> OptionInfo:
    """What is written."""
    return typer.Option("--out", "-o", metavar=metavar, help=help, show_default=False)


def share(help: str, *names: str) -> OptionInfo:
    """An option that is a number strictly between 0 and 1."""
    return typer.Option(*names, callback=_share, metavar="P", help=help)


def option(metavar: str, help: str, *names: str) -> OptionInfo:
    """An option that has no value of its own accord."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=False)


def argument(metavar: str, help: str) -> ArgumentInfo:
    """What is named by its place."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


_KNOWN = "CSV, TSV, Parquet, Arrow, LIBSVM, NPZ or Excel, or a folder; - is the standard input."
Table = Annotated[Path, argument("FILE", _KNOWN)]
Model = Annotated[Path, argument("MODEL", "What 'purely fit' has written; -m MODEL says the same.")]
ModelOption = Annotated[Path | None, option("MODEL", "What 'purely fit' has written.", "--model", "-m")]
Force = Annotated[bool, flag("--force", "Replace an existing file of another kind.")]
EscapeFormulas = Annotated[
    bool, flag("--escape-formulas", "Put ' before texts that a spreadsheet would take for formulas.")
]
OutTable = Annotated[Path, output("FILE", "CSV, TSV or Parquet.")]
ScenarioOption = Annotated[
    Scenario | None,
    typer.Option(
        "--scenario",
        help="case-control: the unlabelled rows are a sample of the population; single-sample: they are what is left "
        "of one after labelling, as in a table of reported frauds.  [default: case-control]",
    ),
]
ClassPrior = Annotated[float | None, share("Share of positives in the population, if you know it.", "--class-prior")]
DeviceOption = Annotated[Device, typer.Option("--device", help="Where networks are trained.")]


@dataclass(frozen=True)
class Files:
    """One file with a label column, or two: the positives, then the pool."""

    file: Table
    pool: Annotated[Path | None, argument("POOL", "The unlabelled rows, if FILE holds the positives.")] = None

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [self.file] if self.pool is None else [self.file, self.pool]

    @property
    def name(self) -> str:
        """What the files are called together, without their folders."""
        return " and ".join(path.name for path in self.paths)


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    format: Annotated[FileFormat | None, typer.Option(help="Format of the file.  [default: by its ending]")] = None
    delimiter: Annotated[str | None, option("CHARACTER", "Delimiter of CSV.  [default: by the first lines]")] = None
    encoding: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Encoding of CSV and TSV, such as cp1252 (Windows); for two files also two names: cp1252,utf-8.",
        ),
    ] = "utf-8"
    no_header: Annotated[bool, flag("--no-header", "The first line is data; columns are c1, c2, ...")] = False
    max_expansion: Annotated[
        float, typer.Option(min=1.0, metavar="N", help="Largest growth of a packed file: NPZ, Excel, Parquet.")
    ] = MAX_EXPANSION

    def open(self, path: Path) -> TableSource:
        """Open a file, or a folder of files as one table."""
        if path.is_dir():
            return FolderSource(path, find_files(path, any_name=self.format is not None), self.open)
        options = asdict(self)
        return open_table(path, header=not options.pop("no_header"), **options)

    def open_all(self, files: Files) -> TableSource:
        """Open one file, or positives and pool in two."""
        names = self.encoding.split(",")
        each = names if len(names) == len(files.paths) else [self.encoding] * len(files.paths)
        parts = [replace(self, encoding=name.strip()).open(path) for name, path in zip(each, files.paths, strict=True)]
        return parts[0] if len(parts) == 1 else Pair(*parts)


@dataclass(frozen=True)
class Labelling:
    """Where the labels are, and what their values mean."""

    label: Annotated[str | None, option("COLUMN", "Label column.  [default: label or y]", "--label", "-l")] = None
    positive: Annotated[
        str | None, option("VALUE", "Value of labelled positives.  [default: 1, true, yes, positive]")
    ] = None
    negative: Annotated[
        str | None, option("VALUE", "Value of known negatives, not used for learning; none: there are none.")
    ] = None

    def as_in(self, origin: Origin, names: Sequence[str]) -> Self:
        """As in the fit, where the file has the fit's label column and nothing else is asked for."""
        if origin.label not in names or self.label not in (None, origin.label):
            return self
        positive, negative = self.positive or origin.positive, self.negative or origin.negative
        return replace(self, label=origin.label, positive=positive, negative=negative)


@dataclass(frozen=True)
class Sampling(Labelling):
    """Which columns play a part of their own, how many rows are used, and what the unlabelled rows are."""

    id: Annotated[
        list[str] | None, option("COLUMN", "Copied to the output, not used for learning; may be given several times.")
    ] = None
    drop: Annotated[list[str] | None, option("COLUMN", "Left out; may be given several times.")] = None
    max_rows: Annotated[
        int,
        typer.Option(
            min=100,
            metavar="N",
            help="Most unlabelled rows that are used, drawn at random from more; as many positives.",
        ),
    ] = 50_000
    scenario: ScenarioOption = None
