"""Models that learn in this process."""
from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _glowish
from ._errors import ArgumentError, ArgumentTypeError, Error
from ._options import merge_options
from ._source import Source

Array = np.ndarray
Epoch = Dict[str, float]


def _as_arrays(inputs: Any, names: List[str]) -> Dict[str, Array]:
    """The samples of each input."""
    if not isinstance(inputs, dict):
        several = inputs if isinstance(inputs, (tuple, list)) else [inputs]
        if len(several) != len(names):
            raise ArgumentTypeError(f"the model has {len(names)} inputs, and "
                                    f"{len(several)} arrays are given")
        inputs = dict(zip(names, several))
    for name in inputs:
        if name not in names:
            raise ArgumentTypeError(f"the model has no input '{name}'; it has "
                                    + ", ".join(map(repr, names)))
    for name in names:
        if name not in inputs:
            raise ArgumentTypeError(f"the input '{name}' is not given")
    return {name: np.asarray(inputs[name]) for name in names}


class _Samples:
    """Inputs and labels, in the types of the model."""

    def __init__(self, inputs: Dict[str, Array], labels: Array) -> None:
        self.inputs, self.labels = inputs, np.asarray(labels)
        for name, array in {**inputs, "labels": self.labels}.items():
            if array.ndim == 0 or len(array) != len(self.labels):
                raise ArgumentError(f"'{name}' has the shape {array.shape}; accepted: "
                                    "as many samples as there are labels")

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Array) -> "_Samples":
        return _Samples({name: array[rows] for name, array in self.inputs.items()},
                        self.labels[rows])


class Training:
    """A model that glowish.train() has trained, which can go on.

    history: a dictionary for each epoch, with "epoch", "loss", "seconds", and where
        they are known "accuracy", "validation_loss" and "validation_accuracy".
    """

    def __init__(self, model: Any, samples: _Samples, settings: Dict[str, Any],
                 source: Source, pairs: List[Tuple[str, str]]) -> None:
        self.history: List[Epoch] = []
        self._source = source
        self._settings = settings
        self._samples = samples
        batch = settings["batch_size"]
        if len(samples) < batch:
            raise ArgumentError(f"there are {len(samples)} samples, fewer than a "
                                f"batch of {batch}")
        self._model = _glowish.TrainedModel(
            paths=source.paths, options=pairs,
            batches={name: np.empty((batch, *array.shape[1:]),
                                    model.get(name) or array.dtype)
                     for name, array in samples.inputs.items()},
            labels=np.empty((batch, *samples.labels.shape[1:]), samples.labels.dtype),
            initializer=settings["initialize"])
        _show_warnings(self._model.take_warnings())
        self._values = {value.name: value for value in self._model.inputs}
        self._label = self._model.inputs[-1]
        self._check_labels(samples)

    def _check_labels(self, samples: _Samples) -> None:
        """Class labels that are no classes would be learned from silently."""
        self._axis: Optional[int] = None
        if self._label.dtype.kind != "i" or \
                self._settings["loss"] not in (None, "softmax-cross-entropy"):
            return
        shape = self._model.prediction().shape
        label = tuple(self._label.shape)
        self._axis = 1 if label == shape[:1] + shape[2:] and label != shape[:-1] else -1
        classes = shape[self._axis]
        wrong = np.flatnonzero((samples.labels < 0) | (samples.labels >= classes))
        if wrong.size:
            value = samples.labels.reshape(-1)[wrong[0]]
            raise ArgumentError(f"a label is {value}; accepted: 0 ... {classes - 1}, the "
                                f"classes of the output '{self._model.output_name}'")

    def _batch(self, samples: _Samples, rows: Array) -> Dict[str, Array]:
        """What a step is given."""
        arrays = {name: array[rows] for name, array in samples.inputs.items()}
        arrays[self._label.name] = samples.labels[rows]
        for name, array in arrays.items():
            value = self._values[name]
            if not np.can_cast(array.dtype, value.dtype, "same_kind"):
                raise ArgumentTypeError(f"'{name}' is {array.dtype}; accepted: "
                                        f"{value.dtype}, and what it has the values of")
            shape = value.shape if name == self._label.name else array.shape
            try:
                arrays[name] = np.ascontiguousarray(
                    array.astype(value.dtype, copy=False).reshape(shape))
            except ValueError:
                raise ArgumentError(f"'{name}' has the shape {array.shape} in a batch; "
                                    f"accepted: {shape}") from None
        return arrays

    def _count_correct(self, prediction: Array, labels: Array) -> int:
        answers = prediction.argmax(self._axis)
        return int((answers == labels.reshape(answers.shape)).sum())

    def _orders(self, epoch: int) -> Iterator[Array]:
        """The rows of each batch of an epoch."""
        count, batch = len(self._samples), self._settings["batch_size"]
        order = np.arange(count)
        if self._settings["shuffle"]:
            order = np.random.default_rng(
                (self._settings["seed"], epoch)).permutation(count)
        for begin in range(0, count - batch + 1, batch):
            yield order[begin:begin + batch]

    def run_epoch(self) -> Epoch:
        """One more epoch: learns from all samples once, but for those at the end that
        do not fill a batch. Returns its entry in the history."""
        epoch = len(self.history) + 1
        rate = self._settings["learning_rate"] * \
            self._settings["learning_rate_decay"] ** (epoch - 1)
        losses, correct, count = [], 0, 0
        start = time.perf_counter()
        for rows in self._orders(epoch):
            arrays = self._batch(self._samples, rows)
            loss = self._model.run_step(arrays, rate)
            losses.append(loss)
            if not np.isfinite(loss):
                raise Error(f"the loss of step {len(losses)} of epoch {epoch} is {loss}; "
                            "a smaller learning_rate may help, or clip_norm")
            if self._axis is not None:
                labels = arrays[self._label.name]
                correct += self._count_correct(self._model.prediction(), labels)
                count += labels.size
        entry: Epoch = {"epoch": epoch, "loss": float(np.mean(losses))}
        if count:
            entry["accuracy"] = correct / count
        if self._settings["validation"] is not None:
            for name, value in self._evaluate(self._settings["validation"]).items():
                entry["validation_" + name] = value
        entry["seconds"] = time.perf_counter() - start
        self.history.append(entry)
        return entry

    def _evaluate(self, samples: _Samples) -> Dict[str, float]:
        """The mean loss, and the share of labels that the model finds."""
        batch = self._settings["batch_size"]
        losses, correct, labels = 0.0, 0, 0
        for begin in range(0, len(samples), batch):
            rows = np.minimum(np.arange(begin, begin + batch), len(samples) - 1)
            count = min(batch, len(samples) - begin)
            arrays = self._batch(samples, rows)
            outputs = self._model.infer(arrays)
            losses += float(outputs[self._model.loss_name][:count].sum())
            if self._axis is not None:
                own = arrays[self._label.name][:count]
                correct += self._count_correct(
                    outputs[self._model.output_name][:count], own)
                labels += own.size
        result = {"loss": losses / len(samples)}
        if labels:
            result["accuracy"] = correct / labels
        return result

    def evaluate(self, inputs: Any, labels: Any) -> Dict[str, float]:
        """The loss of other samples, and the accuracy where labels are classes."""
        samples = _Samples(_as_arrays(inputs, list(self._samples.inputs)),
                           np.asarray(labels))
        return self._evaluate(samples)

    def variables(self) -> Dict[str, Array]:
        """Copies of all that is trained, with what the solver keeps."""
        return self._model.variables()

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the model, an ONNX file, with the trained weights."""
        self._model.save(os.fspath(path))

    def __repr__(self) -> str:
        last = self.history[-1] if self.history else {}
        return "<glowish.Training, " + ", ".join(
            f"{name} {value:.4g}" for name, value in last.items()) + ">"


def _show_warnings(lines: List[str]) -> None:
    import warnings
    for line in lines:
        warnings.warn(line, stacklevel=3)


def _split(samples: _Samples, validation: Any, seed: int,
           names: List[str]) -> Tuple[_Samples, Optional[_Samples]]:
    """Samples to learn from, and those to validate with."""
    if validation is None:
        return samples, None
    if isinstance(validation, (tuple, list)):
        inputs, labels = validation
        return samples, _Samples(_as_arrays(inputs, names), labels)
    count = round(len(samples) * float(validation))
    if not 0 < count < len(samples):
        raise ArgumentError(f"validation={validation}: of {len(samples)} samples, that "
                            f"leaves {len(samples) - count} to learn from")
    order = np.random.default_rng(seed).permutation(len(samples))
    return samples.take(order[count:]), samples.take(order[:count])


def train(model: Any, inputs: Any, labels: Any, *,
          epochs: int = 1,
          batch_size: int = 32,
          learning_rate: float = 0.01,
          learning_rate_decay: float = 1.0,
          loss: Optional[str] = None,
          solver: Optional[str] = None,
          shuffle: bool = True,
          seed: int = 0,
          validation: Any = None,
          initialize: str = "keep",
          progress: Union[bool, Callable[[Epoch], Any]] = False,
          **options: Any) -> Training:
    """Trains an ONNX model, by a step that is compiled for its batches.

    inputs: an array with the samples along its first dimension, a tuple of them, or a
        dictionary by the inputs' names. labels: class indices, or what the output is
        compared with.
    epochs: how often all samples are learned from. learning_rate_decay: the factor of
        the rate after each.
    loss: "softmax-cross-entropy" (default), "binary-cross-entropy",
        "mean-squared-error", "l1" or "huber". solver: "sgd" (default), "adam",
        "adamw", "rmsprop" or "adagrad".
    validation: inputs and labels, or the share of the samples, that are not learned
        from, and that each epoch ends with.
    initialize: "keep" what the file has, "xavier" or "kaiming".
    progress: True prints a line for each epoch on stderr; a function is called with
        its entry in the history.
    options: glowish.options("train") lists them: momentum, l2, clip_norm, threads, ...
    """
    source = Source(model)
    declared = {value.name: value.dtype
                for value in _glowish.declared_inputs(source.path)}
    samples = _Samples(_as_arrays(inputs, list(declared)), np.asarray(labels))
    samples, held = _split(samples, validation, seed, list(declared))
    if samples.labels.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"labels: {samples.labels.dtype}; accepted: numbers")
    if samples.labels.dtype.kind != "f":
        samples.labels = samples.labels.astype(np.int64)
    pairs = merge_options(source.path, None, None, None,
                          {"loss": loss, "solver": solver, "seed": seed, **options})
    training = Training(
        declared, samples,
        {"batch_size": int(batch_size), "learning_rate": float(learning_rate),
         "learning_rate_decay": float(learning_rate_decay), "shuffle": shuffle,
         "seed": seed, "loss": loss, "initialize": initialize, "validation": held},
        source, pairs)
    for _ in range(epochs):
        entry = training.run_epoch()
        if callable(progress):
            progress(entry)
        elif progress:
            import sys
            print("  ".join(f"{name} {value:.5g}" for name, value in entry.items()),
                  file=sys.stderr)
    return training
