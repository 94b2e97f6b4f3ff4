"""Time and size of the file of a fitted ``PUClassifier()``, beside pickle, joblib and skops; and what hostile files do.

``python -m benchmarks.model_file``; ``--build name=path/to/src`` measures another version of purely too, and ``--skops
FOLDER`` says where skops is installed (``pip install --target FOLDER skops``) if it is not beside purely. Every build
runs in a process of its own: it fits the classifier once, then the ways of saving and loading take turns. Ratios are to
pickle, least time against least time. Then the files of ``benchmarks.hostile`` are loaded by purely and by skops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from experiments.entry import option, read_options
from experiments.records import write_rows

from benchmarks.timing import BenchmarkOptions, in_child

SMOKE = {"rows": 400, "columns": 4, "repeats": 1, "members": "light"}

CODE = """
import importlib.util, pickle, sys, tempfile, time, warnings
sys.path += [{skops!r}] if {skops!r} else []
from pathlib import Path
import joblib
import numpy as np
import purely
warnings.simplefilter("ignore")
now = {{"wall": time.perf_counter, "cpu": time.process_time}}[{clock!r}]
rng = np.random.default_rng(0)
n_p = {rows} // 10
X = rng.normal(size=({rows}, {columns}))
X[(rng.random({rows}) < 0.23) | (np.arange({rows}) < n_p), :3] += 1.0
settings = {{"members": {members!r}}} if {members!r} else {{}}
model = purely.PUClassifier(random_state=0, **settings).fit(X, (np.arange({rows}) < n_p).astype(int))

def seconds(task, *arguments):
    start = now()
    made = task(*arguments)
    return now() - start, made

ways = {{
    "pickle": (lambda m, p: p.write_bytes(pickle.dumps(m)), lambda p: pickle.loads(p.read_bytes())),
    "joblib": (joblib.dump, joblib.load),
    "purely": (purely.save, purely.load),
}}
if importlib.util.find_spec("skops") is not None:
    import skops.io
    ways["skops"] = (skops.io.dump, lambda p: skops.io.load(p, trusted=skops.io.get_untrusted_types(file=p)))
result = {{name: {{"save": [], "load": []}} for name in ways}}
with tempfile.TemporaryDirectory() as folder:
    for turn in range({repeats} + 1):  # the first is not counted
        for name, (save, load) in ways.items():
            path = Path(folder) / name
            saved, _ = seconds(save, model, path)
            loaded, again = seconds(load, path)
            result[name]["bytes"] = path.stat().st_size
            if turn:
                result[name]["save"].append(saved)
                result[name]["load"].append(loaded)
            else:
                assert (again.predict_proba(X) == model.predict_proba(X)).all()
"""


@dataclass(frozen=True)
class ModelFile(BenchmarkOptions):
    """Options of this benchmark."""

    repeats: int = 7
    rows: int = option(3_000, "rows of the fit, a tenth of them positives")
    columns: int = 20
    members: str = option("", "members of the classifier; those of the default where nothing is said")
    build: tuple[str, ...] = option((), "other versions, each as name=folder of its source")
    skops: str = option("", "folder in which skops is installed")
    hostile: bool = option(True, "whether hostile files are loaded too")


def measure(options: ModelFile, build: str, source: str) -> list[dict[str, Any]]:
    """A row for each way of saving, by the version of purely in a folder, or by the one that is running."""
    names = ("rows", "columns", "members", "repeats", "clock", "skops")
    found = in_child(CODE.format(**{name: getattr(options, name) for name in names}), first=source)
    least = {
        way: [min(found[way]["save"]), min(found[way]["load"]), found[way]["bytes"]] for way in WAYS if way in found
    }
    return [
        {
            "build": build,
            "way": way,
            "rows": options.rows,
            "columns": options.columns,
            "clock": options.clock,
            **dict(zip(("save_seconds", "load_seconds", "bytes"), values, strict=True)),
            **{f"{what}_ratio": a / b for what, a, b in zip(WHAT, values, least["pickle"], strict=True)},
        }
        for way, values in least.items()
    ]


WAYS, WHAT = ("pickle", "joblib", "purely", "skops"), ("save", "load", "size")
HOSTILE = """
import sys, tempfile, warnings
sys.path += [{skops!r}] if {skops!r} else []
from pathlib import Path
warnings.simplefilter("ignore")
from benchmarks.hostile import run_all
with tempfile.TemporaryDirectory() as folder:
    result = {{"files": dict(run_all({library!r}, Path(folder)))}}
"""


def attack(options: ModelFile) -> list[dict[str, Any]]:
    """A row for each hostile file, with what became of it; of skops only where it is installed."""
    found = {}
    for library in ("purely", "skops"):
        code = HOSTILE.format(library=library, skops=options.skops)
        if library == "purely" or options.skops or find_spec("skops") is not None:
            found[library] = in_child(code)["files"]
    return [{"file": name, **{library: files[name] for library, files in found.items()}} for name in found["purely"]]


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(ModelFile, __doc__, SMOKE, arguments)
    found = measure(options, "this", "")
    for name, _, source in (entry.partition("=") for entry in options.build):
        found += measure(options, name, source)
    for row in found:
        print(
            f"{row['build']:8} {row['way']:8} save {1e3 * row['save_seconds']:8.1f} ms, load "
            f"{1e3 * row['load_seconds']:8.1f} ms, {row['bytes']:11,} bytes; in pickles {row['save_ratio']:.2f}, "
            f"{row['load_ratio']:.2f}, {row['size_ratio']:.2f}"
        )
    write_rows("model_file", found, options.out)
    if options.hostile:
        files = attack(options)
        for row in files:
            print(
                f"{row['file']:44} " + ", ".join(f"{library}: {row[library]}" for library in row if library != "file")
            )
        write_rows("model_file_hostile", files, options.out)


if __name__ == "__main__":
    main()
