"""The paper's figures and tables, one command each: ``python -m experiments.paper --help``.

- ``config.py``: what a run consists of; the full one and one for a smoke test.
- ``methods/``: one file a method. Data sets are in ``experiments/sets.py``.
- ``draws.py``: how rows are drawn for training, validation and testing.
- ``store.py``: finished rows, safe against a kill. ``runner.py``: what is left to do, on all cores and the GPU.
- ``tables.py``, ``figure3.py``: Markdown, LaTeX, CSV, PNG and SVG from the rows alone.
"""
