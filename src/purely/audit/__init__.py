"""Labels of a few rows say how many positives a pool has and how good a model is, whatever was assumed.

Positive-unlabelled learning assumes that the labelled positives are a random draw of all positives. Only new labels can
tell whether that is true. An audit asks for labels of 50 to 200 rows, drawn from the pool with known probabilities that
favour doubtful and high-scoring rows:

1. :func:`draw_audit` draws the rows; somebody labels them.
2. :func:`read_audit` reads the labels: share of positives, precision, recall, lift, error and calibration, each with an
   interval whose level holds for any model and any labelling.
3. :meth:`AuditResult.threshold_for_precision`, :meth:`AuditResult.recalibrated` and :meth:`AuditResult.assumptions` say
   what follows.

Without a single new label, :func:`sensitivity` says how far share, precision and probabilities could be off if the odds
of being labelled vary by a factor gamma over the positives, and from which gamma on a conclusion may be wrong.
"""

from purely.audit._changes import Change
from purely.audit._design import AuditSample, draw_audit, read_audit_labels
from purely.audit._monitor import Batch, Look, Monitor
from purely.audit._next import NextRows, next_to_label
from purely.audit._posterior import Posterior
from purely.audit._recalibrated import RecalibratedClassifier
from purely.audit._result import AuditCurve, AuditResult, read_audit
from purely.audit._sensitivity import Sensitivity, sensitivity

__all__ = [
    "AuditCurve",
    "AuditResult",
    "AuditSample",
    "Batch",
    "Change",
    "Look",
    "Monitor",
    "NextRows",
    "Posterior",
    "RecalibratedClassifier",
    "Sensitivity",
    "draw_audit",
    "next_to_label",
    "read_audit",
    "read_audit_labels",
    "sensitivity",
]
