"""A fit that can be killed: stages are stored beside the model and taken up again with ``--resume``.

The folder ``MODEL.resume`` holds what the fit is of (a digest of rows, labels and settings), the class prior once it is
estimated, and the networks every ten epochs. Everything else is done again: it depends on the rows and the seed alone,
so a resumed fit ends with the model that an undisturbed one gives.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from purely.cli._session import CommandError, Session
from purely.prior import ClassPrior

__all__ = ["FitFolder", "StoredPrior", "digest"]


def digest(X: Any, y: Any, settings: dict[str, Any]) -> str:
    """A digest of rows, labels and settings."""
    found = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    for part in (*parts, np.asarray(y)):
        found.update(str((part.shape, part.dtype)).encode())
        found.update(np.ascontiguousarray(part).data)
    return found.hexdigest()


class FitFolder:
    """The folder of an unfinished fit."""

    def __init__(self, out: Path) -> None:
        self.path = out.with_name(out.name + ".resume")

    @property
    def prior(self) -> Path:
        """Where the class prior is."""
        return self.path / "prior.purely"

    @property
    def networks(self) -> Path:
        """Where the networks are."""
        return self.path / "networks.pt"

    @property
    def plan(self) -> Path:
        """What the fit is of."""
        return self.path / "plan.json"

    def begin(self, session: Session, key: str, resume: bool) -> None:
        """Make the folder; with `resume`, go on with what is in it."""
        stored = self._stored_key()
        if resume and stored is not None:
            if stored != key:
                raise CommandError(
                    f"{str(self.path)!r} belongs to a fit of other data or settings; leave out --resume to start anew."
                )
            found = [
                what for file, what in ((self.prior, "the class prior"), (self.networks, "networks")) if file.exists()
            ]
            session.note(f"resumed with {' and '.join(found) or 'nothing yet'} of the earlier fit.")
            return
        if stored is not None:
            session.note("an earlier fit that was not finished was started anew; --resume would have continued it.")
        elif resume:
            session.note("there was no unfinished fit to resume; this one started from the beginning.")
        self.remove()
        self.path.mkdir()
        partial = self.path / "plan.partial"
        partial.write_text(json.dumps({"digest": key}), encoding="utf-8")
        os.replace(partial, self.plan)

    def _stored_key(self) -> str | None:
        try:
            return str(json.loads(self.plan.read_text(encoding="utf-8"))["digest"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Delete the folder, if it is one of ours."""
        if self.path.is_dir():
            shutil.rmtree(self.path)


class StoredPrior(ClassPrior):
    """The recommended class prior, read from a file where an earlier fit has left it there."""

    def __init__(self, file: Any = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.file = file

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [*ClassPrior._get_param_names(), "file"]

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate, or read; either way the file holds the estimate afterwards."""
        import purely

        if not Path(self.file).exists():
            super().fit(X, y)
            purely.save(self.as_plain(), self.file)
        # read back also when it was just written: both ways give the same object
        self.__dict__.update(vars(purely.load(self.file)))
        return self

    def as_plain(self) -> ClassPrior:
        """The same as what it is without the file."""
        found = ClassPrior(**{name: getattr(self, name) for name in ClassPrior._get_param_names()})
        state = {name: value for name, value in vars(self).items() if name != "file"}
        found.__dict__.update(state)
        return found
