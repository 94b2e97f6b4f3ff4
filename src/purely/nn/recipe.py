"""What a network is and how it learns: its layers, the settings of its training; nothing here loads torch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from purely.typing import Matrix

if TYPE_CHECKING:
    from torch import nn

    from purely.nn.losses import Loss

OptimizerName = Literal["adam", "sgd", "adagrad"]
Schedule = Literal["constant", "cosine"]
Update = Literal["joint", "alternating"]
Arithmetic = Literal["float32", "bfloat16"]
Widths: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class TrainingSettings:
    """How networks are trained.

    Parameters
    ----------
    optimizer : {"adam", "sgd", "adagrad"}
    learning_rate : float
    schedule : {"constant", "cosine"}
        Whether the rate stays or falls to zero along half a cosine over `max_epochs`.
    update : {"joint", "alternating"}
        Both parts in every step, or the paper's four steps for g and one for v.
    weight_decay : float
        Decay of the weights, decoupled from the gradient.
    gradient_noise : float
        Standard deviation of normal noise that is added to every gradient.
    clip_norm : float or None
        Largest Euclidean norm of a network's gradient.
    dropout : float
        Share of the inputs that are set to zero, in steps of 1/256.
    max_epochs, patience : int
        The longest training, and how many epochs without a better held-out J end it.
    tol : float
        How much lower a held-out J has to be to be better.
    keep : {"best", "last"}
        The state of each network that is kept: that of lowest held-out J, or, without early stopping, the last one.
    dtype : {"float32", "bfloat16"}
        Arithmetic of the forward and backward passes; parameters are float32 always.
    verbose : bool
        Show a progress bar with the mean J of the training batches and of the held-out rows.
    checkpoint : path or None
        File to save to and to resume from.
    checkpoint_every : int
        Epochs between two saves.
    fingerprint : str
        What the run is about; a checkpoint of something else is refused.
    """

    optimizer: OptimizerName = "adam"
    learning_rate: float = 1e-3
    schedule: Schedule = "constant"
    update: Update = "joint"
    weight_decay: float = 0.0
    gradient_noise: float = 0.0
    clip_norm: float | None = None
    dropout: float = 0.0
    max_epochs: int = 100
    patience: int = 20
    tol: float = 0.0
    keep: Literal["best", "last"] = "best"
    dtype: Arithmetic = "float32"
    verbose: bool = False
    checkpoint: str | Path | None = None
    checkpoint_every: int = 10
    fingerprint: str = ""


def check_encoder(name: str, encoder: object) -> nn.Module:
    """Return the caller's own torch module, refuse anything else."""
    from torch import nn

    if not isinstance(encoder, nn.Module):
        raise TypeError(f"{name} must be None or a torch.nn.Module; {type(encoder).__name__} was given.")
    return encoder


def kept_dtypes(X: Matrix) -> str | list[type[np.floating]]:
    """Types that are not converted up front: floats; any number in a memory-mapped array, which is never copied."""
    return "numeric" if isinstance(X, np.memmap) else [np.float64, np.float32]


@dataclass(frozen=True)
class Layer:
    """One fully connected layer: an affine map, then batch norm and ReLU where asked for."""

    n_in: int
    n_out: int
    norm: bool
    relu: bool
    bias: bool

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the parameters of one network: weights, then scale and shift or a bias."""
        return ((self.n_out, self.n_in), *[(self.n_out,)] * (2 if self.norm else int(self.bias)))


@dataclass(frozen=True)
class Architecture:
    """Layers of a network: those of the encoder v, then those of the head g that ends in the outputs.

    Examples
    --------
    >>> from purely.nn.recipe import Architecture
    >>> paper = Architecture.representation(784, (60,), 20)
    >>> [(layer.n_in, layer.n_out) for layer in paper.encoder + paper.head]
    [(784, 60), (60, 20), (20, 1)]
    """

    encoder: tuple[Layer, ...]
    head: tuple[Layer, ...]

    @classmethod
    def representation(
        cls, n_features: int, hidden: Widths, n_components: int, head_hidden: Widths = (), n_outputs: int = 1
    ) -> Architecture:
        """A network whose encoder is ``n_features - hidden - n_components``; linear where nothing is hidden.

        Parameters
        ----------
        n_features : int
            Columns of the data.
        hidden : tuple of int
            Widths of the hidden layers of v; with none v is linear, with neither batch norm nor ReLU.
        n_components : int
            Width of the representation.
        head_hidden : tuple of int
            Widths of the hidden layers of g.
        n_outputs : int, default=1
            Outputs of g.
        """
        linear = (Layer(n_features, n_components, norm=False, relu=False, bias=False),)
        encoder = _layers((n_features, *hidden, n_components)) if hidden else linear
        return cls(encoder, _layers((n_components, *head_hidden), n_outputs))

    @classmethod
    def classifier(cls, n_features: int, hidden: tuple[int, ...]) -> Architecture:
        """A network ``n_features - hidden - 1``; a linear classifier where nothing is hidden."""
        widths = (n_features, *hidden)
        return cls(_layers(widths), _layers(widths[-1:], 1))


def _layers(widths: tuple[int, ...], n_outputs: int = 0) -> tuple[Layer, ...]:
    """Hidden layers between these widths, and the last one where there are outputs."""
    hidden = tuple(Layer(n_in, n_out, norm=True, relu=True, bias=False) for n_in, n_out in pairwise(widths))
    return (*hidden, Layer(widths[-1], n_outputs, norm=False, relu=False, bias=True)) if n_outputs else hidden


@dataclass(frozen=True)
class NetworkRecipe:
    """All choices of a fit of networks.

    Attributes
    ----------
    architecture : Architecture
    loss : Loss
        What is minimised; see :mod:`purely.nn.losses` and :mod:`purely.nn.risks`.
    settings : TrainingSettings
    batch_size : int
        Rows of a minibatch; 0 for a tenth of the rows, at least 32 and at most 250.
    encoder : torch.nn.Module or None
        The caller's own network in the place of the architecture's encoder.
    device : str
    """

    architecture: Architecture
    loss: Loss
    settings: TrainingSettings
    batch_size: int
    encoder: nn.Module | None
    device: str
