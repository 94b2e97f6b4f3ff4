"""The paper's figures and tables, and what the package promises, as commands. Public names of `purely` only."""
