"""Fuzzing: malformed tables, kills inside the write window, and storms (full disks, lost permissions, closed outputs).

``python -m tests.fuzz tables|kills|storms|all [-n N] [--seed S] [--minutes M]`` runs them at any size; a small fixed
part is in ``tests/cli/test_fuzz.py``.
"""
