"""``purely predict`` of a folder: file by file, each done once, whatever happens in between.

A finished file gets a line in a journal in the output's folder. The line is written before the scores appear under
their name and holds their size and time of writing, which stay the same when the file is put into its place: a line
counts if the file it speaks of is there, just so. Whatever moment a process is killed at, a file that is there is known
to be finished, and one that is not is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

from joblib import Parallel, delayed

from purely.cli import _options as o
from purely.cli._data import check_output
from purely.cli._rows import Tally, label_rows, scored_rows
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import CommandError, Session, explain, percent
from purely.files import FileError, shown, sweep
from purely.progress import track
from purely.tables.errors import EmptyTableError, said_of_empty
from purely.tables.folder import PlacedFile, find_files
from purely.tables.formats import COMPRESSIONS
from purely.tables.source import PlacedSource
from purely.tables.writing import ENDINGS, writing_table

#: Name of the journal; tools that read folders pass over names with a dot.
JOURNAL = ".purely-scored.jsonl"
#: Files that are named in the sentence about those that failed.
NAMED = 3


@dataclass(frozen=True)
class FolderTask:
    """What is done to every file.

    Attributes
    ----------
    model : Path
    out : Path
        The folder of the scores.
    reading : Reading
    ids : list of str or None
        Columns that are carried along; None: as in the fit.
    threshold : float
    exact, promised, interval, escape_formulas, force : bool
    """

    model: Path
    out: Path
    reading: o.Reading
    ids: list[str] | None
    threshold: float
    exact: bool
    promised: bool
    interval: bool
    escape_formulas: bool
    force: bool

    def fingerprint(self) -> str:
        """What the scores depend on besides the rows."""
        digest = hashlib.sha256(self.model.read_bytes())
        settings = [asdict(self.reading), self.ids, self.threshold, self.exact, self.promised, self.interval]
        settings.append(self.escape_formulas)
        digest.update(json.dumps(settings, default=str).encode())
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class FileScores:
    """What became of a file.

    Attributes
    ----------
    place : str
        The file below the folder.
    tally : Tally
    unseen, unreadable : dict of str to int
        Values that the model could not use, by column.
    error : str
        Why there are no scores; empty where there are.
    nothing : bool
        Whether the file holds nothing at all, not even names of columns: then nothing is written.
    """

    place: str
    tally: Tally
    unseen: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    error: str = ""
    nothing: bool = False


def output_of(file: PlacedFile, out: Path) -> Path:
    """Where the scores of a file go: under its own name, or as Parquet where its format is not written."""
    place = file.place
    if place.suffix.lower() in COMPRESSIONS:
        place = place.with_suffix("")
    if place.suffix.lower() not in ENDINGS:
        place = place.with_name(place.name + (".csv" if place.suffix.lower() in (".txt", ".tab") else ".parquet"))
    return out / place


def predict_folder(session: Session, folder: Path, task: FolderTask, scorer: Scorer, jobs: int) -> None:
    """Score the files of a folder that are not scored yet."""
    files = find_files(folder, any_name=task.reading.format is not None)
    outputs = _check_places(folder, files, task)
    for place in {task.out, *(out.parent for out in outputs.values())}:
        sweep(place)  # what a killed process has left, also where nothing is to be done
    journal = Journal(task.out / JOURNAL, task.fingerprint())
    found = journal.finished(files, outputs)
    if before := len(found):
        session.note(f"{before:,} of {len(files):,} files were scored before and are left as they are.")
    kept = {scores.place for scores in found}
    todo = [file for file in files if str(file.place) not in kept]
    sizes = {str(file.place): file.path.stat().st_size for file in todo}
    # one file at a time in each process: what is not begun is not lost
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
    work = (delayed(score_file)(task, file, outputs[file.place], journal) for file in todo)
    with track("Scoring files", max(1, sum(sizes.values())), unit="B", verbose=False) as bar:
        reached = rows = 0
        for scores in parallel(work):
            found.append(scores)
            reached, rows = reached + sizes[scores.place], rows + scores.tally.rows
            bar.reach(reached, {"rows/s": f"{rows / max(1e-9, session.elapsed):,.0f}"})
    _say(session, task, scorer, found, before)


def _check_places(folder: Path, files: list[PlacedFile], task: FolderTask) -> dict[Path, Path]:
    """Where the scores of each file go; refuse what would destroy or mix something."""
    source, target = folder.resolve(), task.out.resolve()
    if target == source or source in target.parents:
        raise CommandError(
            f"the scores' folder {shown(task.out, 120)!r} lies in the folder that is read; name another one.", 2
        )
    if task.out.exists() and not task.out.is_dir():
        raise CommandError(f"{shown(task.out, 120)!r} is a file; the scores of a folder need a folder.", 2)
    taken: dict[Path, Path] = {}
    for file in files:
        out = output_of(file, task.out)
        if out in taken:
            both = f"{shown(taken[out], 60)!r} and {shown(file.place, 60)!r}"
            raise CommandError(f"the scores of {both} would have the same name; rename one of the files.")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"the folder {shown(out.parent, 120)!r} cannot be made: {error.strerror}.") from error
        check_output(out, [task.model, file.path], endings=ENDINGS, force=task.force)
        taken[out] = file.place
    return {place: out for out, place in taken.items()}


class Journal:
    """Which files are finished.

    Parameters
    ----------
    path : Path
    fingerprint : str
        Lines of another one are of other scores, and do not count.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint

    def finished(self, files: Iterable[PlacedFile], outputs: Mapping[Path, Path]) -> list[FileScores]:
        """Files whose last line speaks of this input and of the scores that are there."""
        entries = {}
        text = self.path.read_bytes().decode(errors="replace") if self.path.exists() else ""
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                if entry["fingerprint"] == self.fingerprint:
                    entries[entry["place"]] = entry
            except (ValueError, KeyError, TypeError):
                continue  # it was cut off
        found = []
        for file in files:
            entry = entries.get(str(file.place), {"input": None})
            if entry["input"] == _stamp(file.path) and entry["output"] == _stamp(outputs[file.place]):
                found.append(FileScores(entry["place"], Tally(**entry["tally"]), entry["unseen"], entry["unreadable"]))
        return found

    def add(self, scores: FileScores, file: PlacedFile, partial: Path) -> None:
        """Note a file whose scores are whole and not yet in their place."""
        known = {name: value for name, value in asdict(scores).items() if name not in ("error", "nothing")}
        entry = {"fingerprint": self.fingerprint, **known, "input": _stamp(file.path), "output": _stamp(partial)}
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            # A line that a killed process has left half-written ends here.
            os.write(handle, b"\n" + json.dumps(entry).encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)


def _stamp(path: Path) -> list[int] | None:
    """Size and time of writing of a file, None where there is none."""
    with suppress(OSError):
        found = path.stat()
        return [found.st_size, found.st_mtime_ns]
    return None


@lru_cache(maxsize=1)
def _scorer(model: Path, exact: bool, promised: bool, stamp: tuple[int, ...]) -> Scorer:
    """The model of this process, loaded once."""
    return load_model(model, exact=exact, promised=promised)


def score_file(task: FolderTask, file: PlacedFile, out: Path, journal: Journal) -> FileScores:
    """Score one file; what is wrong with it is said in the result."""
    name = str(file.place)
    try:
        return _write_scores(task, file, out, journal)
    except Exception as error:
        sentence = explain(error)
        if isinstance(error, EmptyTableError):
            if not out.exists():
                return FileScores(name, Tally(task.threshold), nothing=True)
            sentence = f"{name} is empty now, and {shown(out, 120)!r} has scores of what it held; delete them."
        return FileScores(name, Tally(0.5), error=sentence if name in sentence else f"{shown(name, 120)}: {sentence}")


def _write_scores(task: FolderTask, file: PlacedFile, out: Path, journal: Journal) -> FileScores:
    parent, tally = os.getppid(), Tally(task.threshold)
    scorer = _scorer(task.model, task.exact, task.promised, tuple(_stamp(task.model) or ())).fresh()
    with closing(PlacedSource(task.reading.open(file.path), file.keys)) as source:
        ids = scorer.ids(source, task.ids)
        with writing_table(out, escape_formulas=task.escape_formulas) as writer:
            for batch in scored_rows(scorer, source, ids, interval=task.interval):
                if os.getppid() != parent:  # the process that asked for it is gone: another one may be at work
                    raise CommandError("the process that started this one has ended.")
                writer.write(label_rows(batch, tally))
            scores = FileScores(str(file.place), tally, dict(scorer.unseen), dict(scorer.unreadable))
            writer.when_whole = lambda partial: journal.add(scores, file, partial)
    return scores


def _say(session: Session, task: FolderTask, scorer: Scorer, found: list[FileScores], before: int) -> None:
    session.note(*said_of_empty(sorted(scores.place for scores in found if scores.nothing)))
    found = [scores for scores in found if not scores.nothing]
    if not found:
        raise CommandError("the folder has only files that hold nothing.")
    failed = [scores for scores in found if scores.error]
    whole = Tally.sum([scores.tally for scores in found if not scores.error])
    for scores in found:
        scorer.unseen.update(scores.unseen)
        scorer.unreadable.update(scores.unreadable)
    scorer.n_rows = whole.rows
    scorer.say_ignored(session)
    if empty := sum(not (scores.tally.rows or scores.error) for scores in found):
        session.note(f"{empty:,} {'file has' if empty == 1 else 'files have'} no rows: only column names were written.")
    if failed:
        listed = " ".join(scores.error.rstrip(".") + "." for scores in failed[:NAMED])
        others = f"the scores of the others are in {shown(task.out, 120)!r}, and " if len(failed) < len(found) else ""
        more = f" And {len(failed) - NAMED:,} more." if len(failed) > NAMED else ""
        raise CommandError(
            f"{len(failed):,} of {len(found):,} files could not be scored; {others}the same command does the rest once "
            f"these are mended: {listed}{more}"
        )
    share = percent(whole.positive / max(1, whole.rows))
    session.say(
        f"{len(found):,} {'file' if len(found) == 1 else 'files'}, {whole.rows:,} rows scored{scorer.kind}; "
        f"{whole.positive:,} ({share}) have a probability above {whole.threshold:.4g}.",
        f"The scores are in the folder {task.out}",
    )
    counts = {"files": len(found), "files_before": before, "out": task.out}
    session.finish({**whole.summary(), "distilled": scorer.distilled, **counts})
