"""Corrupted and forged model files from a seed; run as a module it loads them all and says what became of each.

It is a process of its own because a file that got through could end it; memory is limited, a load that does not end is
interrupted, and an audit hook notes whatever a load has no business to do.
"""

from __future__ import annotations

import copy
import json
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import purely
from purely.persistence import ModelFileError, describe
from tests.persistence.files import get, nodes, put, put_together, take_apart
from tests.persistence.models import answers, hostile_bases

MEMORY = 3 * 2**30  # address space, with the libraries in it
SECONDS = 60  # of a load that does not end
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "subprocess.Popen",
    "socket.",
    "pickle.",
)

DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]
CLASSES = (
    "os.system",
    "builtins.eval",
    "subprocess.Popen",
    "purely.cli.main",
    "purely.__main__.main",
    "purely.demo.main",
    "purely.persistence._file.load",
    "sklearn.pipeline.Pipeline",
    "sklearn.linear_model.LogisticRegression",
    "sklearn.svm.SVC",
    "purely.nn.fitted.NetworkArrays",
    "purely.smi.analytic.PUSMI",
    "../../etc/passwd",
)
VALUES = (
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**30, -(2**70), 0.5, 1e308, "", "x", "__class__", [], {}, [[]], DEEP),
    {"kind": "float", "value": "nan"},
    {"kind": "float", "value": "inf"},
    {"kind": "ref", "id": 0},
    {"kind": "ref", "id": 10**9},
    {"kind": "function", "name": "os.system"},
    {"kind": "type", "name": "builtins.object"},
    {"kind": "object", "class": "os.system", "state": {}},
    {"kind": "objects", "shape": [10**9, 10**9], "items": []},
    {"kind": "sparse", "format": "csr", "array": True, "shape": [1, 10**14], "parts": []},
    {"kind": "tuple", "items": [1, 2, 3]},
    {"kind": "dict", "items": [["a", 1], ["a", 2]]},
)


def mutate_document(document: dict[str, Any], rng: np.random.Generator) -> str:
    """Change one thing in the tree of values."""
    places = [place for place in nodes(document["model"]) if place]
    place = places[rng.integers(len(places))]
    kind = rng.integers(6)
    tree = document["model"]
    if kind == 0:
        put(tree, place, copy.deepcopy(VALUES[rng.integers(len(VALUES))]))
    elif kind == 1:
        named = [p for p in places if p[-1] == "class"]
        place = named[rng.integers(len(named))]
        put(tree, place, CLASSES[rng.integers(len(CLASSES))])
    elif kind == 2:
        other = places[rng.integers(len(places))]
        put(tree, place, copy.deepcopy(get(tree, other)))
    elif kind == 3:
        holder = get(tree, place[:-1])
        holder.pop(place[-1])
    elif kind == 4:
        counts = [p for p in places if type(get(tree, p)) is int]
        place = counts[rng.integers(len(counts))]
        put(tree, place, int(rng.choice([-1, 0, 1, 7, 2**20, 2**31, 2**40, 2**63 - 1])))
    else:
        state = get(tree, ("state",))
        state[str(rng.choice(["predict", "__class__", "fit", "_anything", "n_jobs", "memory"]))] = VALUES[3]
    return f"document {kind} at {'.'.join(map(str, place))}"


def mutate_tensors(tensors: dict[str, Any], rng: np.random.Generator) -> str:
    """Change one array."""
    names = sorted(tensors)
    name = names[rng.integers(len(names))]
    array = tensors[name]
    kind = rng.integers(6)
    if kind == 0 and array.size:
        flat = array.copy().reshape(-1)
        value = rng.choice([-1, 3, 10**6, -(10**9)]) if array.dtype.kind in "if" else 255
        flat[rng.integers(flat.size)] = np.array(value).astype(array.dtype)
        tensors[name] = flat.reshape(array.shape)
    elif kind == 1:
        tensors[name] = array.reshape(-1)[: array.size // 2]
    elif kind == 2:
        tensors[name] = array.astype(np.float32 if array.dtype != np.float32 else np.int64)
    elif kind == 3:
        tensors[name] = array.reshape(-1, 1)
    elif kind == 4:
        tensors.pop(name)
    elif array.dtype.kind == "f":
        tensors[name] = np.full_like(array, np.nan)
    else:
        tensors[name] = np.full_like(array, 255 if array.dtype.kind in "ub" else 10**6 if array.itemsize > 2 else 1)
    return f"array {name} of type {array.dtype} {kind}"


def corrupt(source: Path, target: Path, rng: np.random.Generator) -> str:
    """Write a corrupted or forged copy of a file; says what was done."""
    data = bytearray(source.read_bytes())
    way = rng.integers(10)
    if way == 0:
        target.write_bytes(data[: rng.integers(len(data))])
        return "cut short"
    if way == 1:
        for _ in range(rng.integers(1, 9)):
            data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        target.write_bytes(data)
        return "bits flipped"
    if way == 2:
        at = rng.integers(len(data))
        target.write_bytes(bytes(data[:at]) + rng.bytes(rng.integers(1, 50)) + bytes(data[at:]))
        return "bytes put in"
    document, tensors = take_apart(source)
    said = mutate_tensors(tensors, rng) if way in (3, 4, 5) else mutate_document(document, rng)
    put_together(target, document, tensors, forge=rng.random() < 0.9)
    return said


def outcome(path: Path, rows: Any) -> tuple[str, str]:
    """What becomes of a file: refused, or loaded and asked."""
    try:
        with suppress(ModelFileError):
            describe(path)
        model = purely.load(path)
    except ModelFileError as error:
        return "refused", str(error)
    except BaseException:
        return "ESCAPED", traceback.format_exc()
    try:
        answers(model, rows)
    except Exception as error:
        return "loaded, cannot answer", f"{type(error).__name__}: {error}"
    return "loaded, answers", ""


def main(seed: int, count: int) -> None:
    """Print one line of JSON for each file."""
    import resource

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    trespasses: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and event.startswith(FORBIDDEN):
            trespasses.append(f"{event} {args!r}"[:200])

    watching = False
    sys.addaudithook(watch)
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name, (model, rows) in hostile_bases().items():
            sources[name] = Path(folder) / f"{name}.purely"
            purely.save(model, sources[name])
            answers(purely.load(sources[name]), rows)
            sources[name] = (sources[name], rows)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        names = sorted(sources)
        for i in range(count):
            name = names[i % len(names)]
            path, rows = sources[name]
            target = Path(folder) / "forged.purely"
            said = corrupt(path, target, rng)
            print(json.dumps({"file": i, "base": name, "change": said}), flush=True)
            signal.alarm(SECONDS)
            watching = True
            became, why = outcome(target, rows)
            watching = False
            signal.alarm(0)
            print(json.dumps({"file": i, "became": became, "why": why, "trespasses": trespasses}), flush=True)
            trespasses.clear()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
