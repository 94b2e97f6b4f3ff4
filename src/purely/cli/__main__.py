"""``python -m purely.cli``."""

from purely.cli import main

if __name__ == "__main__":
    main()
