"""Run every benchmark, one after another: ``make bench``, or name some: ``python -m benchmarks.run smi``.

The rest of the command line goes to each of them: ``python -m benchmarks.run --smoke``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks import import_time, predict, smi

ALL = {"import_time": import_time.main, "smi": smi.main, "predict": predict.main}


def main(arguments: Sequence[str] | None = None) -> None:
    words = list(sys.argv[1:] if arguments is None else arguments)
    named = [word for word in words if word in ALL]
    for name in named or ALL:
        print(f"\n== {name}", flush=True)
        ALL[name]([word for word in words if word not in named])


if __name__ == "__main__":
    main()
