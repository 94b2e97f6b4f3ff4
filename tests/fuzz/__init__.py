"""Fuzzing: forged model files, malformed tables, kills inside the write window, and storms.

``python -m tests.fuzz models|tables|kills|storms|all [-n N] [--seed S] [--minutes M]`` runs them at any size, and
``make fuzz`` all of them at the size of a release; `RESULTS.md` has what the last such run found. A small fixed part is
in ``tests/cli/test_fuzz.py`` and ``tests/persistence/test_forge.py``.
"""
