"""Hostile model files, forged in the same way for purely and for skops; used by ``benchmarks.model_file``.

For skops a model is changed and dumped, since its writer checks nothing; for purely the file is taken apart and put
together again with a right checksum, since `purely.save` refuses such models. Each file is loaded, and asked about rows
where it loads, in a forked child that may take ten times the file's size and 200 MB more, and ten seconds of computing.
`purely.load` trusts nothing; `skops.io.load` trusts the types that it names for the same model unchanged.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.persistence.files import held_by, put_together, take_apart

import purely

SECONDS, PATIENCE, TIMES, MORE = 10, 300, 10, 200 * 2**20
Change = Callable[[Any], None]


@dataclass(frozen=True)
class Attack:
    """What is done to a model: to the object, for skops, and to document and arrays of its file, for purely."""

    name: str
    model: Any
    rows: Any
    of_object: Change
    of_file: Callable[[dict[str, Any], dict[str, Any]], None]


def _rows() -> tuple[Any, Any, list[str]]:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [40, 60])
    return rng.normal(size=(100, 3)) + y[:, None], y, ["price of a loan", "a game of two teams"] * 50


def _node(kind: str, at: int, name: str, value: int) -> tuple[Change, Any]:
    """One entry of a tree's nodes, in the first tree of a forest or in the first round of boosting."""

    def of_object(model: Any) -> None:
        if kind == "estimators_.nodes":
            tree = model.estimators_[0].tree_
            state = tree.__getstate__()
            state["nodes"][name][at] = value
            tree.__setstate__(state)
        else:
            vars(model)["_predictors"][0][0].nodes[name][at] = value

    def of_file(document: dict[str, Any], arrays: dict[str, Any]) -> None:
        key = f"{kind}.{name}"
        arrays[key] = arrays[key].astype("<i8")
        arrays[key][at] = value

    return of_object, of_file


def _set(name: str, **values: Any) -> tuple[Change, Any]:
    """Attributes of an estimator, or of the first step of a pipeline."""

    def of_object(model: Any) -> None:
        vars(model.steps[0][1] if hasattr(model, "steps") else model).update(values)

    def of_file(document: dict[str, Any], arrays: dict[str, Any]) -> None:
        as_json = {k: {"tuple": list(v)} if isinstance(v, tuple) else v for k, v in values.items()}
        held_by(document, name).update({k: {"dict": v} if isinstance(v, dict) else v for k, v in as_json.items()})

    return of_object, of_file


def _entry(name: str, key: str, value: float) -> tuple[Change, Any]:
    """The first entry of an array."""

    def of_object(model: Any) -> None:
        getattr(model, key).flat[0] = value

    def of_file(document: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[key].flat[0] = value

    return of_object, of_file


def attacks() -> Iterator[Attack]:
    """The attacks on models; those on the container are in `containers`."""
    X, y, words = _rows()
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    boosting = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, y)
    many = GradientBoostingClassifier(n_estimators=2, max_depth=1, random_state=0).fit(X, np.arange(len(X)) % 50)
    linear, mean = LogisticRegression().fit(X, y), DummyRegressor().fit(X, y)
    count = make_pipeline(CountVectorizer(), LogisticRegression()).fit(words, y)
    weighted = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(words, y)
    hashed = make_pipeline(HashingVectorizer(n_features=64), LogisticRegression()).fit(words, y)
    codes, smi = OneHotEncoder(handle_unknown="ignore").fit(X.round()), purely.PUSMI(n_centers=10).fit(X, y)
    split, rounds = "estimators_.nodes", "_predictors"
    yield Attack("forest: child beyond the nodes", forest, X, *_node(split, 0, "left_child", 10**8))
    yield Attack("forest: child that is its parent", forest, X, *_node(split, 0, "right_child", 0))
    yield Attack("forest: column out of range", forest, X, *_node(split, 0, "feature", 10**8))
    yield Attack(
        "forest: two thousand million outputs", forest, X, *_set("RandomForestClassifier", n_outputs_=2 * 10**9)
    )
    yield Attack("forest: a million jobs", forest, X, *_set("RandomForestClassifier", n_jobs=10**6))
    yield Attack("boosting: child beyond the nodes", boosting, X, *_node(rounds, 0, "left", 10**8))
    yield Attack("boosting: child that is its parent", boosting, X, *_node(rounds, 0, "right", 0))
    yield Attack("boosting: column out of range", boosting, X, *_node(rounds, 0, "feature_idx", 10**8))
    yield Attack("boosting: categories that are not there", boosting, X, *_node(rounds, 0, "is_categorical", 1))
    more = _set("HistGradientBoostingClassifier", n_trees_per_iteration_=10**9)
    yield Attack("boosting: more trees a round", boosting, X, *more)
    yield Attack(
        "gradient boosting: fewer trees a round", many, X, *_set("GradientBoostingClassifier", n_trees_per_iteration_=1)
    )
    yield Attack("mean: two thousand million outputs", mean, X, *_set("DummyRegressor", n_outputs_=2 * 10**9))
    yield Attack("words: n-grams of any length", count, words, *_set("CountVectorizer", ngram_range=(1, 2**31)))
    pattern = r"(?:\w?\w?\w?)" * 60 + "!"
    yield Attack("words: sixty optional groups", count, words, *_set("CountVectorizer", token_pattern=pattern))
    places = {word: 10**8 + i for i, word in enumerate(count.steps[0][1].vocabulary_)}
    yield Attack("words: columns beyond the vocabulary", count, words, *_set("CountVectorizer", vocabulary_=places))
    yield Attack("weighted words: the same", weighted, words, *_set("TfidfVectorizer", vocabulary_=places))
    yield Attack("hashing into no column", hashed, words, *_set("HashingVectorizer", n_features=0))
    yield Attack(
        "one-hot codes: widths that do not fit", codes, X, *_set("OneHotEncoder", _n_features_outs=[10**8] * 3)
    )
    yield Attack("linear: a weight that is no number", linear, X, *_entry("LogisticRegression", "coef_", np.nan))
    yield Attack("information: an array that is no number", smi, X, *_entry("PUSMI", "coef_", np.nan))


def containers(library: str, sound: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Files that are hostile whatever model they hold."""
    path = folder / "container"
    with path.open("wb") as file:
        file.write(b"hello, this is no model\n")
        file.truncate(3 * 2**30)
    yield "3 GB that are no model", path
    if library == "purely":
        document, arrays = take_apart(sound)
        document["model"]["class"] = "os.system"
        yield "a function for a class", put_together(path, document, arrays)
        text = json.dumps(take_apart(sound)[0])[:-1] + ', "more": [' + "[]," * 900_000 + "[]]}"
        header = json.dumps({"__metadata__": {"purely": text, "sha256": ""}}).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        yield "a small file that unpacks to much", path
        return
    with zipfile.ZipFile(sound) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({**schema, "__class__": "system", "__module__": "os"}))
    yield "a function for a class", path
    bomb = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with bomb, bomb.open("schema.json", "w", force_zip64=True) as file:
        file.write(parts["schema.json"])
        for _ in range(3 * 2**10):
            file.write(b" " * 2**20)
    yield "a small file that unpacks to much", path


def outcome(task: Callable[[], str], size: int) -> str:
    """What becomes of a task in a child: what it says, or "crash", "hang" or "memory"."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(PATIENCE)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = used + TIMES * min(size, 2**30) + MORE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            said = task()
        except MemoryError:
            said = "memory"
        except BaseException as error:
            said = f"escaped: {type(error).__name__}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    said = b"".join(iter(lambda: os.read(read, 65536), b"")).decode()
    os.close(read)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "hang" if os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF) else "crash"
    return said


def loads_and_answers(load: Callable[[], Any], rows: Any) -> str:
    """Load a model and ask it about rows."""
    try:
        model = load()
    except MemoryError:
        return "memory"
    except Exception:
        return "refused"
    try:
        names = ("predict_proba", "decision_function", "predict", "density_ratio", "transform")
        said = [np.asarray(getattr(model, name)(rows)) for name in names if hasattr(model, name)]
    except MemoryError:
        return "memory"
    except Exception:
        return "cannot answer"
    return "answered" if all(np.isfinite(a).all() for a in said if a.dtype.kind == "f") else "not finite"


def run_all(library: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Each attack by name, and what became of it in "purely" or in "skops"."""
    for attack in attacks():
        sound, path = folder / "sound", folder / "forged"
        if library == "purely":
            purely.save(attack.model, sound)
            document, arrays = take_apart(sound)
            attack.of_file(document, arrays)
            put_together(path, document, arrays)
            load = partial(purely.load, path)
        else:
            import skops.io

            skops.io.dump(attack.model, sound)
            trusted = skops.io.get_untrusted_types(file=sound)
            forged = deepcopy(attack.model)
            attack.of_object(forged)
            skops.io.dump(forged, path)
            load = partial(skops.io.load, path, trusted=trusted)
        yield attack.name, outcome(partial(loads_and_answers, load, attack.rows), path.stat().st_size)
    for name, path in containers(library, sound, folder):
        load = partial(purely.load if library == "purely" else skops.io.load, path)
        yield name, outcome(partial(loads_and_answers, load, attack.rows), path.stat().st_blocks * 512)
