"""One page that answers the five questions: information, representation, class prior, list, trust."""

from purely.report._make import Report, make_report

__all__ = ["Report", "make_report"]
