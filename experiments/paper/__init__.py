"""The paper's figures and tables, one command each: ``python -m experiments.paper --help``.

- ``config.py``: what a run consists of; the full one and one for a smoke test.
- ``datasets/``: one file a data set. ``methods/``: one file a method.
- ``draws.py``: how rows are drawn for training, validation and testing.
- ``store.py``: finished rows, safe against a kill. ``runner.py``: what is left to do, on all cores and the GPU.
- ``tables.py``, ``figures.py``: Markdown, LaTeX, CSV, PNG and SVG from the rows alone.
"""
