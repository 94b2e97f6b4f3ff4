"""``python -m purely``: the command line, where the script `purely` is not on the path."""

from purely.cli import main

if __name__ == "__main__":
    main()
