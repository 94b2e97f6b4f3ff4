"""Past one machine: scoring, class priors and information of a pool that comes in parts.

The parts may be lists of arrays or, with ``pip install 'purely[dask]'``, collections of Dask. Fits themselves are split
by joblib wherever an estimator has `n_jobs`: inside ``joblib.parallel_config("dask")`` they run on a cluster.
"""

from purely.scale.frames import predict_frame, read_folder
from purely.scale.information import pool_information
from purely.scale.prior import pool_prior
from purely.scale.scorer import BatchScorer

__all__ = ["BatchScorer", "pool_information", "pool_prior", "predict_frame", "read_folder"]
