"""The run context, which tells RETURNN's functions whether the model trains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "RunCtx",
    "get_run_ctx",
    "get_run_ctx_step",
    "init_forward_step_run_ctx",
    "init_train_step_run_ctx",
    "reset_run_ctx",
]


@dataclass(frozen=True, kw_only=True)
class RunCtx:
    """The current stage and step.

    Parameters
    ----------
    stage
        "init" before the first step, "train_step" for a loss, in training or evaluation, "forward_step" for
        outputs.
    train_flag
        Whether the model trains.
    step, epoch
        The numbers of the step and the epoch.
    expected_outputs
        The expected outputs; none are collected.

    Notes
    -----
    Like RETURNN's `RunCtx`, which also collects losses and outputs.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.RunCtx(stage="train_step", train_flag=True).train_flag
    True
    """

    stage: Literal["init", "train_step", "forward_step"]
    train_flag: bool = False
    step: Any = 0
    epoch: Any = 1
    expected_outputs: Any = field(default=None, repr=False)


# One for all threads: torch recomputes checkpoints in those of the backward pass.
_current = RunCtx(stage="init")


def get_run_ctx() -> RunCtx:
    """The current run context.

    Returns
    -------
    RunCtx
        The context of the last step that began; at first "init", without training.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.get_run_ctx()
    RunCtx(stage='init', train_flag=False, step=0, epoch=1)
    """
    return _current


def get_run_ctx_step() -> Any:
    """The number of the step.

    Returns
    -------
    int or Tensor
        The number of the last step that began; 0 at first.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.init_train_step_run_ctx(step=7)
    >>> rf.get_run_ctx_step()
    7
    >>> rf.reset_run_ctx()
    """
    return _current.step


def init_train_step_run_ctx(*, train_flag: Any = True, step: Any = 0, epoch: Any = 1) -> None:
    """Begin a step with a loss.

    Parameters
    ----------
    train_flag
        Whether the model trains; False in evaluation.
    step, epoch
        Numbers for `get_run_ctx`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.init_train_step_run_ctx(train_flag=True)
    >>> rf.get_run_ctx().train_flag
    True
    >>> rf.reset_run_ctx()
    """
    global _current
    _current = RunCtx(stage="train_step", train_flag=bool(train_flag), step=step, epoch=epoch)


def init_forward_step_run_ctx(*, expected_outputs: Any = None, step: Any = 0, epoch: Any = 1) -> None:
    """Begin a step without a loss and without training.

    Parameters
    ----------
    expected_outputs
        The outputs for `get_run_ctx`; none are collected.
    step, epoch
        Numbers for `get_run_ctx`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.init_forward_step_run_ctx()
    >>> rf.get_run_ctx()
    RunCtx(stage='forward_step', train_flag=False, step=0, epoch=1)
    >>> rf.reset_run_ctx()
    """
    global _current
    facts = {"step": step, "epoch": epoch, "expected_outputs": expected_outputs}
    _current = RunCtx(stage="forward_step", **facts)


def reset_run_ctx() -> None:
    """End the step.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.reset_run_ctx()
    >>> rf.get_run_ctx().stage
    'init'
    """
    global _current
    _current = RunCtx(stage="init")
