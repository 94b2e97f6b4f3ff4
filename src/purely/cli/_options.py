"""Options that mean the same in every command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "ClassPriorOption",
    "Debug",
    "Delimiter",
    "Device",
    "DeviceOption",
    "Drop",
    "Encoding",
    "File",
    "FileFormat",
    "FormatOption",
    "Ids",
    "Json",
    "Label",
    "MaxRows",
    "NoHeader",
    "Positive",
    "Quiet",
    "Scenario",
    "ScenarioOption",
    "Seed",
]


class FileFormat(StrEnum):
    """Formats by name."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    arrow = "arrow"
    libsvm = "libsvm"
    npz = "npz"


class Scenario(StrEnum):
    """What the unlabelled rows are."""

    case_control = "case-control"
    single_sample = "single-sample"


class Device(StrEnum):
    """Where networks are trained."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


_READ, _RUN = "Reading the file", "Output"

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, Arrow/Feather, LIBSVM or NPZ.", show_default=False)
]
Label = Annotated[
    str | None,
    typer.Option("--label", "-l", metavar="COLUMN", help="Label column.  [default: a column named 'label']"),
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="VALUE", help="Value of labelled positives.  [default: 1, true or yes; see the manual]"),
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="COLUMN", help="Carried to the output, never a feature; may be given several times."),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Left out; may be given several times.", show_default=False)
]
FormatOption = Annotated[
    FileFormat | None, typer.Option("--format", help="Format of the file.  [default: by its ending]")
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Delimiter of CSV.  [default: by the first lines]")
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Encoding of CSV and TSV, such as latin-1.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line is data; columns are c1, c2, ...")]
MaxRows = Annotated[
    int,
    typer.Option(
        min=100, metavar="N", help="Unlabelled rows used, drawn at random where there are more; likewise positives."
    ),
]
ScenarioOption = Annotated[
    Scenario,
    typer.Option(
        "--scenario",
        help="case-control: the unlabelled rows are a sample of the population; single-sample: they are what is left "
        "of one after labelling.",
    ),
]
ClassPriorOption = Annotated[
    float | None,
    typer.Option("--class-prior", metavar="SHARE", help="Share of positives in the population, where it is known."),
]
DeviceOption = Annotated[Device, typer.Option("--device", help="Where networks are trained.")]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and --json).")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
