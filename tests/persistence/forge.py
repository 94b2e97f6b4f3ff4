"""Forged and damaged model files by the thousand: ``python -m tests.fuzz models -n 10000 --seed 0``.

Every place of every document and every array of a model of each kind is changed, one change a file, with a right
checksum; some files are damaged at random instead. Each is loaded, and asked about rows where it loads, in a forked
child that may take ten times the file's size and 200 MB more, and ten seconds.
"""

from __future__ import annotations

import copy
import itertools
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import purely
from tests.persistence.children import in_a_child
from tests.persistence.files import get, places, put, put_together, take_apart
from tests.persistence.models import declared_models

#: What must never become of a file.
WORST = ("crash", "hang", "memory", "escaped")

DEEP: Any = 0
for _ in range(80):
    DEEP = [DEEP]
VALUES = (
    *(None, True, False, -1, 0, 1, 2, 3, 255, 2**24, 2**31, 2**53, 2**63, 10**30, -(2**70), 0.5, -0.5, 1e308, 5e-324),
    *("", "x", "nan", "networks", "__class__", "\ud800", "\x1b[2J", "x" * 200_000, [], {}, [[]], [None] * 9, DEEP),
    *({"float": name} for name in ("nan", "inf", "-inf", "1e999", "x", None)),
    *({"tuple": items} for items in ([], [0], [1, 10**9], [0.5, 0.5], None, "x")),
    *({"dict": items} for items in ({}, [], [[1, 2]], [[[], 1]], {"x": 1}, None)),
    *({"array": name} for name in ("F64", "I64", "U8", "BOOL", "O", None)),
    *({"named": name} for name in ("densify", "float64", "os.system", None)),
    {"items": ["a", "b"], "dtype": "<U1"},
    {"items": [""] * 1000, "dtype": "<U9999"},
    {"items": [1, []], "dtype": "|O"},
    {"items": ["a"], "dtype": "O8,O8"},
    {"csr": {"tuple": [10**9, 10**9]}, "matrix": True, "data": {"array": "F64"}},
    {"foreign": "os.system", "how": "call", "args": ["true"], "state": None, "listed": None, "paired": None},
    {"foreign": "builtins.set", "how": "new", "args": [], "state": None, "listed": None, "paired": None},
    {"class": "Prior", "value": 0.5, "low": 0.4, "high": 0.6, "level": 1.0, "upper_bound": None, "determined": True},
    *({"class": name} for name in ("Pipeline", "PUClassifier", "RandomState", "os.system", "SVC", ["Prior"], None)),
)
INTEGERS = (-(2**63), -(2**31), -129, -2, -1, 0, 1, 2, 3, 100, 127, 2**15, 2**31 - 1, 2**31, 2**53, 2**63 - 1)
FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 1.0, 5e-324, 1e308, -1e308)


def change_place(document: dict[str, Any], place: tuple[Any, ...], rng: np.random.Generator) -> str:
    """Put something else at a place of the document."""
    holder, old = get(document, place[:-1]), get(document, place)
    kind = int(rng.integers(8))
    if kind == 0:
        del holder[place[-1]]
        return "removed"
    if kind == 1 and isinstance(holder, dict):
        holder[str(rng.choice(["predict", "__class__", "memory", "n_jobs", "class", "array", "tuple", "x" * 9]))] = old
        return "named otherwise too"
    if kind == 2 and isinstance(holder, list):
        holder.extend(copy.deepcopy(holder) * int(rng.choice([1, 3, 1000])))
        return "repeated"
    if kind == 3:
        others = places(document)
        put(document, place, copy.deepcopy(get(document, others[rng.integers(len(others))])))
        return "taken from elsewhere"
    if kind == 4 and type(old) in (int, float):
        step = rng.choice([-1, 1, 10, -10, 1000])
        put(document, place, type(old)(old + step))
        return f"moved by {step}"
    value = VALUES[rng.integers(len(VALUES))]
    put(document, place, copy.deepcopy(value))
    return f"set to {ascii(value)[:60]}"


def change_array(arrays: dict[str, Any], name: str, rng: np.random.Generator) -> str:
    """Change an array: one entry, all, its order, its shape or its type."""
    array = arrays[name]
    kind = int(rng.integers(9))
    flat = array.reshape(-1).copy()
    if kind < 4 and flat.size:
        values = FLOATS if array.dtype.kind == "f" else INTEGERS
        wide = array.dtype.kind in "iu" and rng.random() < 0.5
        flat = flat.astype(np.int64) if wide else flat
        value = values[rng.integers(len(values))]
        with np.errstate(all="ignore"):
            value = np.array(value).astype(flat.dtype)
        where = slice(None) if kind == 0 else rng.integers(flat.size, size=int(rng.choice([1, 1, 3])))
        flat[where] = value
        arrays[name] = flat.reshape(array.shape)
        return f"{'all' if kind == 0 else 'some'} set to {value} as {flat.dtype}"
    if kind == 4:
        arrays[name] = rng.permutation(flat).reshape(array.shape)
        return "shuffled"
    if kind == 5:
        arrays[name] = flat[: flat.size // 2] if rng.random() < 0.5 else np.tile(flat, 2)
        return "of another length"
    if kind == 6:
        arrays[name] = array[None] if rng.random() < 0.5 else array.T
        return "of another shape"
    if kind == 7:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(rng.choice(["f4", "f8", "i1", "i8", "u1", "u8", "?", "f2"]))
        return "of another type"
    del arrays[name]
    return "removed"


def change_bytes(data: bytearray, rng: np.random.Generator) -> tuple[bytes, str]:
    kind = int(rng.integers(3))
    if kind == 0:
        return bytes(data[: rng.integers(len(data))]), "cut short"
    if kind == 1:
        for _ in range(rng.integers(1, 9)):
            data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        return bytes(data), "bits flipped"
    at = rng.integers(len(data))
    return bytes(data[:at]) + rng.bytes(rng.integers(1, 50)) + bytes(data[at:]), "bytes put in"


def forged_files(sources: dict[str, Path], target: Path, seed: int) -> Iterator[tuple[str, str]]:
    """Write one forged file after the other to the target; gives the model's name and what was done.

    Places and arrays are gone through in a random order before any comes a second time.
    """
    rng = np.random.default_rng(seed)
    apart = {name: take_apart(path) for name, path in sources.items()}
    spots = [(name, place) for name, (document, _) in apart.items() for place in places(document)]
    spots += [(name, array) for name, (_, arrays) in apart.items() for array in sorted(arrays)]
    while True:
        for i in rng.permutation(len(spots)):
            name, spot = spots[i]
            document, arrays = copy.deepcopy(apart[name])
            try:
                if isinstance(spot, str):
                    said = f"array {spot} {change_array(arrays, spot, rng)}"
                else:
                    said = f"{'.'.join(map(str, spot))} {change_place(document, spot, rng)}"
                put_together(target, document, arrays)
            except (OverflowError, TypeError, ValueError, RecursionError):  # a change that no file can hold
                continue
            yield name, said
            if rng.random() < 0.1:
                damaged, said = change_bytes(bytearray(sources[name].read_bytes()), rng)
                target.write_bytes(damaged)
                yield name, said


def run(
    count: int, seed: int, models: dict[str, tuple[Any, Any]], minutes: float = 1e6
) -> tuple[Counter[str], list[dict[str, str]]]:
    """How many files came to which end, and those that came to a bad one."""
    ends: Counter[str] = Counter()
    end = time.time() + 60.0 * minutes
    kept = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sources = {name: Path(folder) / f"{i}.purely" for i, name in enumerate(models)}
        for name, path in sources.items():
            purely.save(models[name][0], path)
        forged = forged_files(sources, Path(folder) / "forged.purely", seed)
        for name, said in itertools.islice(forged, count):
            if time.time() > end:
                break
            became, why = in_a_child(Path(folder) / "forged.purely", models[name][1])
            ends[became] += 1
            if became not in ("refused", "answered"):
                kept.append({"model": name, "change": said, "became": became, "why": why})
    return ends, kept


def fuzz_models(n: int, seed: int, minutes: float = 1e6) -> dict[str, object]:
    """Load `n` forged files; how many came to which end, and those that came to one of the worst."""
    ends, kept = run(n, seed, declared_models(), minutes)
    return {"files": sum(ends.values()), **ends, "problems": [entry for entry in kept if entry["became"] in WORST]}
