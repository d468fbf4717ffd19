"""Models of operators of ai.onnx.ml for machine_learning.py.

Models and inputs are made of seeds. A case has what a model is made of, so that
trees can be walked without it."""

import math
import random
import struct
from dataclasses import dataclass, field

import numpy as np

from cases import encode

KINDS = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "bool": 9, "float64": 11}
NAN, INF = math.nan, math.inf


@dataclass
class Node:
    """A node of a model: attributes are ints, floats, strings, arrays for tensors, and lists."""
    op: str
    inputs: list
    outputs: list
    attrs: dict
    domain: str = "ai.onnx.ml"


@dataclass
class Case:
    """A model, its inputs, and the trees of it, if any."""
    name: str
    nodes: list
    inputs: dict
    # Names of the outputs and the types of their elements.
    outputs: dict
    opset: int = 3
    labels: list = field(default_factory=list)
    trees: object = None


# Encoding.


def encode_tensor(array, name=""):
    return (b"".join(encode(1, dim) for dim in array.shape) +
            encode(2, KINDS[str(array.dtype)]) + (encode(8, name) if name else b"") +
            encode(9, array.tobytes()))


def encode_attribute(name, value):
    if isinstance(value, np.ndarray):
        return encode(1, name) + encode(20, 4) + encode(5, encode_tensor(value))
    values = value if isinstance(value, list) else [value]
    is_list = isinstance(value, list)
    if isinstance(values[0], str):
        kind, number = (8, 9) if is_list else (3, 4)
        data = b"".join(encode(number, text) for text in values)
    elif isinstance(values[0], int):
        kind, number = (7, 8) if is_list else (2, 3)
        data = b"".join(encode(number, each) for each in values)
    else:
        kind, number = (6, 7) if is_list else (1, 2)
        data = (encode(7, struct.pack(f"<{len(values)}f", *values)) if is_list
                else encode(number, values[0]))
    return encode(1, name) + encode(20, kind) + data


def encode_node(node):
    return (b"".join(encode(1, name) for name in node.inputs) +
            b"".join(encode(2, name) for name in node.outputs) +
            encode(4, node.op) + encode(7, node.domain) +
            b"".join(encode(5, encode_attribute(name, value))
                     for name, value in node.attrs.items()
                     if not (isinstance(value, list) and not value)))


def encode_maps(name):
    """A ValueInfoProto of a sequence of maps from int64 to float."""
    value = encode(1, encode(1, 1))
    mapped = encode(5, encode(1, 7) + encode(2, value))
    return encode(1, name) + encode(2, encode(4, encode(1, mapped)))


def encode_value(name, kind, shape):
    dims = b"".join(encode(1, encode(1, dim) if isinstance(dim, int) else encode(2, dim))
                    for dim in shape or ())
    tensor = encode(1, kind) + (encode(2, dims) if shape is not None else b"")
    return encode(1, name) + encode(2, encode(1, tensor))


def encode_model(case, is_open=False):
    """A ModelProto. is_open: the first dimension of the inputs is the symbol N."""
    graph = b"".join(encode(1, encode_node(node)) for node in case.nodes)
    graph += encode(2, "graph")
    for name, array in case.inputs.items():
        shape = ["N", *array.shape[1:]] if is_open else array.shape
        graph += encode(11, encode_value(name, KINDS[str(array.dtype)], shape))
    for name, kind in case.outputs.items():
        if kind == "maps":
            graph += encode(12, encode_maps(name))
            continue
        graph += encode(12, encode_value(name, 8 if kind == "string" else KINDS[kind], None))
    opsets = [("", 17), ("ai.onnx.ml", case.opset)]
    return encode(1, 8) + encode(7, graph) + b"".join(
        encode(8, encode(1, domain) + encode(2, version)) for domain, version in opsets)


# Trees.


@dataclass
class TreeNode:
    """An inner node, or a leaf with its weights by target."""
    mode: str = "LEAF"
    feature: int = 0
    value: float = 0.0
    members: tuple = ()
    passes_nan: bool = False
    when_true: object = None
    when_false: object = None
    weights: dict = field(default_factory=dict)


@dataclass
class Trees:
    """Trees, and what becomes of what they add up."""
    roots: list
    targets: int
    function: str = "SUM"
    base: list = field(default_factory=list)
    transform: str = "NONE"
    is_classifier: bool = False


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Growth:
    """Grows random trees."""

    def __init__(self, seed, features=5, modes=("BRANCH_LEQ",), missing=False, integers=False,
                 weights=(-1, 1), exact=True):
        self.random = random.Random(seed)
        self.features, self.modes, self.missing = features, modes, missing
        self.integers, self.weights, self.exact = integers, weights, exact

    def number(self, low, high):
        value = self.random.uniform(low, high)
        return f32(value) if self.exact else value

    def value(self, mode):
        if self.integers or mode in ("BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"):
            return float(self.random.randint(-3, 3))
        return self.number(-1, 1)

    def leaf(self, targets):
        return TreeNode(weights={t: self.number(*self.weights) for t in targets()})

    def tree(self, depth, targets):
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf(targets)
        mode = self.random.choice(self.modes)
        node = TreeNode(mode, self.random.randrange(self.features), self.value(mode))
        if mode == "BRANCH_MEMBER":
            node.members = tuple(float(v) for v in self.random.sample(
                range(-3, 4), self.random.randint(1, 4)))
        node.passes_nan = self.missing and self.random.random() < 0.5
        node.when_true = self.tree(depth - 1, targets)
        node.when_false = self.tree(depth - 1, targets)
        return node

    def rows(self, count, kind="float32"):
        """Some elements are values that trees compare with, or special."""
        def element():
            choice = self.random.random()
            if self.missing and choice < 0.2:
                return NAN
            if self.integers or choice < 0.5:
                return float(self.random.randint(-3, 3))
            return self.random.uniform(-1.2, 1.2)
        rows = [[element() for _ in range(self.features)] for _ in range(count)]
        if "int" in kind:
            rows = [[round(3 * x) for x in row] for row in rows]
        return np.array(rows, kind)


def list_nodes(root):
    """The nodes of a tree with numbers, and the numbers of the children."""
    numbered, pending = [], [root]
    while pending:
        node = pending.pop()
        numbered.append(node)
        if node.mode != "LEAF":
            pending += [node.when_false, node.when_true]
    return numbered, {id(node): i for i, node in enumerate(numbered)}


def tree_attributes(trees, prefix, missing, tensor_kind=None):
    """The attributes of TreeEnsembleClassifier and TreeEnsembleRegressor."""
    names = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids", "modes", "values",
             "missing_value_tracks_true")
    lists = {f"nodes_{name}": [] for name in names}
    weights = {f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, root in enumerate(trees.roots):
        nodes, places = list_nodes(root)
        for place, node in enumerate(nodes):
            is_leaf = node.mode == "LEAF"
            entry = (number, place, node.feature, 0 if is_leaf else places[id(node.when_true)],
                     0 if is_leaf else places[id(node.when_false)], node.mode, node.value,
                     int(node.passes_nan))
            for name, value in zip(lists, entry):
                lists[name].append(value)
            for target, weight in node.weights.items():
                for name, value in zip(weights, (number, place, target, weight)):
                    weights[name].append(value)
    if not missing:
        del lists["nodes_missing_value_tracks_true"]
    attrs = {**lists, **weights, "post_transform": trees.transform}
    if trees.base:
        attrs["base_values"] = trees.base
    if tensor_kind:
        for name in ("nodes_values", f"{prefix}_weights", "base_values"):
            if name in attrs:
                attrs[name + "_as_tensor"] = np.array(attrs.pop(name), tensor_kind)
    return attrs


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
         "BRANCH_MEMBER"]
FUNCTIONS = ["AVERAGE", "SUM", "MIN", "MAX"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]


def ensemble_attributes(trees, kind, missing):
    """The attributes of TreeEnsemble of opset 5."""
    inner, leaves, roots = [], [], []
    for root in trees.roots:
        roots.append(len(inner))
        if root.mode == "LEAF":
            root = TreeNode("BRANCH_LEQ", 0, 0.0, when_true=root, when_false=root)
        inner += [node for node in list_nodes(root)[0] if node.mode != "LEAF"]
    places = {id(node): i for i, node in enumerate(inner)}

    def place(node):
        if node.mode != "LEAF":
            return places[id(node)], 0
        if not any(leaf is node for leaf in leaves):
            leaves.append(node)
        return next(i for i, leaf in enumerate(leaves) if leaf is node), 1
    true = [place(node.when_true) for node in inner]
    false = [place(node.when_false) for node in inner]
    members = []
    for node in inner:
        if node.mode == "BRANCH_MEMBER":
            members += [*node.members, NAN]
    attrs = {
        "tree_roots": roots, "n_targets": trees.targets,
        "aggregate_function": FUNCTIONS.index(trees.function),
        "post_transform": TRANSFORMS.index(trees.transform),
        "nodes_featureids": [node.feature for node in inner],
        "nodes_modes": np.array([MODES.index(node.mode) for node in inner], "uint8"),
        "nodes_splits": np.array([node.value for node in inner], kind),
        "nodes_truenodeids": [p for p, _ in true], "nodes_trueleafs": [q for _, q in true],
        "nodes_falsenodeids": [p for p, _ in false], "nodes_falseleafs": [q for _, q in false],
        "leaf_targetids": [next(iter(leaf.weights)) for leaf in leaves],
        "leaf_weights": np.array([next(iter(leaf.weights.values())) for leaf in leaves], kind)}
    if members:
        attrs["membership_values"] = np.array(members, kind)
    if missing:
        attrs["nodes_missing_value_tracks_true"] = [int(node.passes_nan) for node in inner]
    return attrs


def regressor(name, seed, targets=1, each="all", trees=4, depth=3, rows=7, kind="float32",
              tensors=False, function="SUM", base=(), transform="NONE", **growth):
    grown = Growth(seed, exact=not tensors, **growth)
    forest = [grown.tree(depth, choose_targets(grown, targets, each, i)) for i in range(trees)]
    made = Trees(forest, targets, function, list(base), transform)
    attrs = tree_attributes(made, "target", grown.missing, kind if tensors else None)
    attrs.update(n_targets=targets, aggregate_function=function)
    return Case(name, [Node("TreeEnsembleRegressor", ["x"], ["y"], attrs)],
                {"x": grown.rows(rows, kind)}, {"y": "float32"}, trees=made)


def choose_targets(grown, targets, each, tree):
    """The targets of a leaf: all of them, one for each tree, or any."""
    if each == "all":
        return lambda: range(targets)
    if each == "tree":
        return lambda: [tree % targets]
    if isinstance(each, int):
        return lambda: [each]
    return lambda: grown.random.sample(range(targets), grown.random.randint(1, targets))


def classifier(name, seed, labels, each="all", trees=4, depth=3, rows=7, kind="float32",
               base=(), transform="NONE", **growth):
    grown = Growth(seed, **growth)
    count = len(labels)
    forest = [grown.tree(depth, choose_targets(grown, count, each, i)) for i in range(trees)]
    made = Trees(forest, count, "SUM", list(base), transform, is_classifier=True)
    attrs = tree_attributes(made, "class", grown.missing)
    is_string = isinstance(labels[0], str)
    attrs["classlabels_strings" if is_string else "classlabels_int64s"] = list(labels)
    return Case(name, [Node("TreeEnsembleClassifier", ["x"], ["label", "scores"], attrs)],
                {"x": grown.rows(rows, kind)},
                {"label": "string" if is_string else "int64", "scores": "float32"},
                labels=list(labels), trees=made)


def ensemble(name, seed, targets=1, trees=4, depth=3, rows=7, kind="float32", function="SUM",
             transform="NONE", **growth):
    grown = Growth(seed, exact=kind == "float32", **growth)
    forest = [grown.tree(depth, lambda: [grown.random.randrange(targets)]) for _ in range(trees)]
    made = Trees(forest, targets, function, [], transform)
    return Case(name, [Node("TreeEnsemble", ["x"], ["y"],
                            ensemble_attributes(made, kind, grown.missing))],
                {"x": grown.rows(rows, kind)}, {"y": kind}, opset=5, trees=made)


# Other operators.


def numbers(seed, *shape, low=-1.0, high=1.0):
    source = random.Random(seed)
    count = math.prod(shape)
    return np.array([source.uniform(low, high) for _ in range(count)], "float32").reshape(shape)


def floats(seed, count, low=-1.0, high=1.0):
    return [float(x) for x in numbers(seed, count, low=low, high=high)]


def single(name, op, attrs, inputs, outputs=None, opset=1, labels=()):
    outputs = outputs or {"y": "float32"}
    node = Node(op, list(inputs), list(outputs), attrs)
    return Case(name, [node], inputs, outputs, opset=opset, labels=list(labels))


LABELLED = {"label": "int64", "scores": "float32"}
NAMED = {"label": "string", "scores": "float32"}


def linear_cases():
    x = numbers(1, 6, 4)

    def linear(name, outputs, labels=(), scores=3, **attrs):
        op = "LinearClassifier" if labels else "LinearRegressor"
        if labels:
            kind = "strings" if isinstance(labels[0], str) else "ints"
            attrs["classlabels_" + kind] = list(labels)
        return single(name, op, {"coefficients": floats(2, 4 * scores),
                                 "intercepts": floats(3, scores), **attrs},
                      {"x": x}, outputs, labels=labels)
    yield linear("linear_regressor", {"y": "float32"}, targets=3)
    yield linear("linear_regressor_one", {"y": "float32"}, scores=1, targets=1)
    yield linear("linear_softmax", LABELLED, [4, 9, 2], post_transform="SOFTMAX")
    yield linear("linear_logistic_strings", NAMED, ["cat", "dog", "eel"],
                 post_transform="LOGISTIC")
    yield linear("linear_two", LABELLED, [5, 7], scores=1)
    yield linear("linear_two_logistic", LABELLED, [5, 7], scores=1, post_transform="LOGISTIC")
    yield linear("linear_two_softmax", LABELLED, [5, 7], scores=1, post_transform="SOFTMAX")
    yield linear("linear_two_rows", LABELLED, [5, 7], scores=2, post_transform="SOFTMAX")


def vector_cases():
    x = numbers(11, 6, 4)

    def regress(name, kernel, **attrs):
        return single(name, "SVMRegressor", {
            "kernel_type": kernel, "kernel_params": [0.5, 0.25, 3.0], "n_supports": 5,
            "support_vectors": floats(12, 20), "coefficients": floats(13, 5), "rho": [0.125],
            **attrs}, {"x": x})
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        yield regress("svm_regressor_" + kernel.lower(), kernel)
    yield regress("svm_one_class", "RBF", one_class=1, rho=[-0.3])
    yield single("svm_without_vectors", "SVMRegressor", {
        "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0], "n_supports": 0,
        "coefficients": floats(14, 4), "rho": [0.5]}, {"x": x})
    wide = numbers(15, 5, 70, low=0, high=3)
    yield single("svm_regressor_wide", "SVMRegressor", {
        "kernel_type": "RBF", "kernel_params": [0.02, 0.0, 0.0], "n_supports": 3,
        "support_vectors": floats(16, 210, 0, 3), "coefficients": floats(17, 3), "rho": [0.1]},
        {"x": wide})

    def classify(name, classes, outputs, labels, kernel="RBF", vectors=(3, 2, 2), **attrs):
        count = sum(vectors)
        pairs = classes * (classes - 1) // 2
        kind = "strings" if isinstance(labels[0], str) else "ints"
        return single(name, "SVMClassifier", {
            "kernel_type": kernel, "kernel_params": [0.7, 0.2, 2.0],
            "vectors_per_class": list(vectors), "support_vectors": floats(18, 4 * count),
            "coefficients": floats(19, (classes - 1) * count), "rho": floats(20, pairs),
            "classlabels_" + kind: list(labels), **attrs}, {"x": x}, outputs, labels=labels)
    yield classify("svm_classes", 3, LABELLED, [3, 1, 2])
    yield classify("svm_classes_strings", 3, NAMED, ["a", "b", "c"], "POLY",
                   post_transform="SOFTMAX")
    yield classify("svm_two", 2, LABELLED, [8, 6], vectors=(3, 2))
    yield classify("svm_two_logistic", 2, LABELLED, [0, 1], "SIGMOID", (3, 2),
                   post_transform="LOGISTIC")
    yield classify("svm_two_softmax", 2, LABELLED, [0, 1], vectors=(3, 2),
                   post_transform="SOFTMAX")
    yield classify("svm_two_probabilities", 2, LABELLED, [0, 1], vectors=(3, 2), prob_a=[-1.5],
                   prob_b=[0.1])
    yield classify("svm_probabilities", 3, LABELLED, [3, 1, 2], prob_a=[-1.5, -2.0, -0.5],
                   prob_b=[0.1, -0.2, 0.3])
    yield classify("svm_probabilities_strings", 4, NAMED, ["a", "b", "c", "d"], "POLY",
                   (1, 2, 1, 3), prob_a=floats(22, 6, -3, -1), prob_b=floats(23, 6))
    yield single("svm_linear_classes", "SVMClassifier", {
        "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0],
        "coefficients": floats(21, 12), "rho": [0.25], "classlabels_ints": [1, 2, 3],
        "post_transform": "LOGISTIC"}, {"x": x}, LABELLED)


def feature_cases():
    x = numbers(31, 5, 3)
    yield single("scaler", "Scaler", {"offset": floats(32, 3), "scale": floats(33, 3)}, {"x": x})
    yield single("scaler_int64", "Scaler", {"offset": [1.5], "scale": [0.5]},
                 {"x": np.array([[1, -2], [3, 4]], "int64")})
    yield single("scaler_double", "Scaler", {"offset": [0.5], "scale": [3.0]},
                 {"x": x.astype("float64")})
    with_zeros = x.copy()
    with_zeros[1] = 0
    for norm in ("MAX", "L1", "L2"):
        yield single("normalizer_" + norm.lower(), "Normalizer", {"norm": norm}, {"x": with_zeros})
    yield single("binarizer", "Binarizer", {"threshold": 0.25}, {"x": x})
    holes = x.copy()
    holes[0, 1] = holes[3, 2] = NAN
    yield single("imputer_nan", "Imputer", {"imputed_value_floats": floats(34, 3),
                                            "replaced_value_float": NAN}, {"x": holes})
    yield single("imputer_int64", "Imputer", {"imputed_value_int64s": [7],
                                              "replaced_value_int64": -1},
                 {"x": np.array([[1, -1], [-1, 4]], "int64")}, {"y": "int64"})
    yield single("one_hot", "OneHotEncoder", {"cats_int64s": [3, 5, 2], "zeros": 1},
                 {"x": np.array([[3, 2, 9], [5, 5, 3]], "int64")})
    yield single("one_hot_float", "OneHotEncoder", {"cats_int64s": [1, 2], "zeros": 1},
                 {"x": np.array([1.0, 2.0, 1.75], "float32")})
    keys = np.array([4, 1, 4, 7, 0], "int64")
    yield single("label_ints", "LabelEncoder", {"keys_int64s": [1, 4, 9], "values_int64s":
                                                [1 << 40, -3, 5], "default_int64": 8},
                 {"x": keys}, {"y": "int64"}, opset=2)
    yield single("label_floats", "LabelEncoder", {"keys_int64s": [1, 4, 4], "values_floats":
                                                  [0.5, -3.5, 5.0], "default_float": 2.5},
                 {"x": keys}, {"y": "float32"}, opset=2)
    yield single("label_of_floats", "LabelEncoder", {"keys_floats": [0.5, 2.0], "values_int64s":
                                                     [3, 4]},
                 {"x": np.array([[2.0, 0.25], [0.5, -2.0]], "float32")}, {"y": "int64"}, opset=2)
    yield single("label_tensors", "LabelEncoder", {
        "keys_tensor": np.array([1, 2, 3], "int64"), "values_tensor":
        np.array([3, 2, 1], "int64"), "default_tensor": np.array([7], "int64")},
        {"x": np.array([2, 3, 5], "int64")}, {"y": "int64"}, opset=4)
    yield single("vectorizer", "FeatureVectorizer", {"inputdimensions": [3, 1, 2]},
                 {"a": x, "b": numbers(35, 5, 2), "c": numbers(36, 5, 1)})
    yield single("extractor", "ArrayFeatureExtractor", {},
                 {"x": x, "i": np.array([2, 0], "int64")})


def tree_cases():
    leq_lt = ("BRANCH_LEQ", "BRANCH_LT")
    yield regressor("tree_sum", 1)
    yield regressor("tree_one_leaf", 2, depth=0)
    yield regressor("tree_average_base", 3, function="AVERAGE", base=[0.75])
    yield regressor("tree_min", 4, function="MIN")
    yield regressor("tree_max_base", 5, function="MAX", base=[-0.5])
    yield regressor("tree_deep", 6, trees=20, depth=8, rows=19)
    yield regressor("tree_targets_base", 7, targets=3, base=[0.5, -0.25, 2.0])
    yield regressor("tree_targets_by_tree", 8, targets=3, each="tree", trees=10)
    yield regressor("tree_targets_any_min", 9, targets=3, each="any", function="MIN")
    yield regressor("tree_targets_any_average", 10, targets=3, each="any", function="AVERAGE",
                    base=[1.0, 2.0, 3.0])
    yield regressor("tree_softmax", 11, targets=3, transform="SOFTMAX")
    yield regressor("tree_logistic", 12, targets=3, transform="LOGISTIC")
    yield regressor("tree_logistic_one", 13, transform="LOGISTIC")
    yield regressor("tree_softmax_zero", 14, targets=3, each="any", trees=2,
                    transform="SOFTMAX_ZERO")
    yield regressor("tree_probit", 15, targets=2, transform="PROBIT", function="AVERAGE",
                    weights=(0.1, 0.9))
    yield regressor("tree_probit_one", 16, transform="PROBIT", function="AVERAGE",
                    weights=(0.1, 0.9))
    for mode in MODES[1:6]:
        yield regressor("tree_" + mode.lower(), 17, modes=(mode,), integers=True)
    yield regressor("tree_modes_missing", 18, trees=6, depth=5, rows=15, modes=MODES[:6],
                    missing=True)
    yield regressor("tree_missing", 19, missing=True, rows=15)
    yield regressor("tree_double", 20, kind="float64", tensors=True, modes=leq_lt, base=[0.1])
    names = ["ant", "bee", "cow"]
    yield classifier("classes", 31, [7, 3, 5])
    yield classifier("classes_strings", 32, names, transform="SOFTMAX")
    yield classifier("classes_by_tree", 33, [0, 1, 2, 3], "tree", trees=12, transform="SOFTMAX")
    yield classifier("classes_any", 34, [2, 4, 6], "any", trees=2, weights=(-1, -0.1))
    yield classifier("classes_base", 35, [2, 4, 6], base=[0.5, 0.25, -1.0],
                     transform="LOGISTIC")
    yield classifier("classes_int64", 36, [0, 1, 2], kind="int64", integers=True)
    yield classifier("classes_int32", 37, [0, 1, 2], kind="int32", integers=True,
                     modes=("BRANCH_GT", "BRANCH_EQ"))
    yield classifier("classes_double", 38, [0, 1, 2], kind="float64", modes=leq_lt)
    two = [4, 9]
    yield classifier("two_first", 41, two, each=0, weights=(0, 0.3))
    yield classifier("two_first_strings", 42, ["no", "yes"], each=0, weights=(0, 0.3))
    yield classifier("two_second", 43, two, each=1, weights=(0, 0.3))
    yield classifier("two_mixed", 44, two, each=0)
    yield classifier("two_mixed_logistic", 45, two, each=0, transform="LOGISTIC")
    yield classifier("two_mixed_softmax", 58, two, each=0, transform="SOFTMAX")
    yield classifier("two_first_logistic", 59, two, each=0, weights=(0, 0.3),
                     transform="LOGISTIC")
    yield classifier("two_second_logistic", 46, two, each=1, transform="LOGISTIC")
    yield classifier("two_base_logistic", 47, two, each=0, base=[0.25], transform="LOGISTIC")
    yield classifier("two_base_second", 48, two, each=1, base=[0.25])
    yield classifier("two_bases", 49, two, each=0, base=[0.25, -0.5], transform="LOGISTIC")
    yield classifier("two_bases_second", 50, two, each=1, base=[0.25, -0.5])
    yield classifier("two_both", 51, two, weights=(0, 0.25))
    yield classifier("two_both_softmax", 52, two, transform="SOFTMAX")
    yield classifier("two_both_bases", 53, two, base=[0.25, -0.5])
    yield classifier("two_both_base", 54, two, base=[0.25])
    yield classifier("two_any", 55, two, "any", trees=2)
    yield classifier("two_any_logistic", 56, two, "any", trees=2, transform="LOGISTIC")
    yield classifier("two_any_bases", 57, two, "any", trees=2, base=[0.25, -0.5])
    yield ensemble("ensemble", 61)
    # ONNX Runtime finds 2.5 in sets with 2.
    yield ensemble("ensemble_sets", 62, modes=MODES, missing=True, depth=5, trees=5, rows=15,
                   integers=True)
    yield ensemble("ensemble_modes", 66, modes=MODES[:6], missing=True, depth=5, trees=5, rows=15)
    yield ensemble("ensemble_targets", 63, targets=3, modes=MODES, function="AVERAGE",
                   transform="SOFTMAX_ZERO", integers=True)
    yield ensemble("ensemble_double", 64, targets=2, kind="float64", modes=MODES, function="MAX",
                   integers=True)
    yield ensemble("ensemble_leaf", 65, depth=0, trees=2)


def pipeline_cases():
    """Operators one behind the other, as converters of scikit-learn write them."""
    trees = classifier("", 71, [0, 1, 2], transform="SOFTMAX")
    scale = Node("Scaler", ["x"], ["scaled"], {"offset": floats(72, 5), "scale": floats(73, 5)})
    trees.nodes[0].inputs = ["scaled"]
    yield Case("pipeline", [scale, trees.nodes[0]], trees.inputs, trees.outputs)


def make_cases():
    return [*tree_cases(), *linear_cases(), *vector_cases(), *feature_cases(), *pipeline_cases()]
