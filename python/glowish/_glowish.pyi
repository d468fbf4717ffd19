"""The compiler, as the Python files of the module call it."""
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._report import Report
from ._values import Value

version: str

def list_options() -> List[
    Tuple[str, str, str, str, str, Tuple[Tuple[str, str], ...], Tuple[str, ...]]]: ...
def list_kinds() -> Dict[str, np.dtype[Any]]: ...
def checksum(buffer: Any) -> int: ...
def declared_inputs(path: str) -> List[Value]: ...
def make_bundle(paths: Tuple[str, ...], folder: str, options: List[Tuple[str, str]],
                types: Dict[str, Tuple[str, Any]], report: bool, report_times: bool,
                progress: Any = ...) -> Tuple[str, str]: ...

class MemoryModel:
    """A copy of the bytes of a model, which has a path while this exists."""
    def __init__(self, buffer: Any, name: str) -> None: ...
    @property
    def path(self) -> str: ...

class Model:
    """A model that is compiled in this process."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The output, an array, or a tuple of arrays where there are several."""
    def run(self, inputs: Dict[str, Any],
            out: Optional[Dict[str, np.ndarray[Any, Any]]] = None
            ) -> Dict[str, np.ndarray[Any, Any]]:
        """The outputs by their names."""
    @property
    def inputs(self) -> Tuple[Value, ...]:
        """Of the shapes that were called last, or as declared."""
    @property
    def outputs(self) -> Tuple[Value, ...]:
        """Of the shapes that were called last, or as declared."""
    @property
    def num_compiled(self) -> int:
        """How many programs were compiled, without those that a cache had."""
    @property
    def sequences(self) -> List[Tuple[int, int]]:
        """Position and length of each output that is a sequence."""
    def get_state(self, name: str) -> np.ndarray[Any, Any]:
        """A copy of what a state has now."""
    def set_state(self, name: str, value: Any) -> None:
        """Replaces what a state has: zeros begin anew."""
    def report(self, times: bool = ...) -> Report:
        """The page about the compilation for the shapes that were called last."""
    _origin: Any

def load_model(paths: Tuple[str, ...], options: List[Tuple[str, str]], cache: str,
               capacity: int, constants: Dict[str, Any], compiles_now: bool,
               compiles_quickly: bool, progress: Any = ...) -> Model: ...

class TrainedModel:
    def __init__(self, paths: Tuple[str, ...], options: List[Tuple[str, str]],
                 batches: Dict[str, np.ndarray[Any, Any]],
                 labels: np.ndarray[Any, Any], initializer: str) -> None: ...
    @property
    def inputs(self) -> List[Value]: ...
    @property
    def output_name(self) -> str: ...
    @property
    def loss_name(self) -> str: ...
    def run_step(self, arrays: Dict[str, np.ndarray[Any, Any]],
                 learning_rate: float) -> float: ...
    def prediction(self) -> np.ndarray[Any, Any]: ...
    def find_non_finite(self) -> str: ...
    def infer(self, arrays: Dict[str, np.ndarray[Any, Any]]
              ) -> Dict[str, np.ndarray[Any, Any]]: ...
    def variables(self) -> Dict[str, np.ndarray[Any, Any]]: ...
    def set_variable(self, name: str, value: Any) -> None: ...
    def save(self, path: str) -> None: ...
    def take_warnings(self) -> List[str]: ...
