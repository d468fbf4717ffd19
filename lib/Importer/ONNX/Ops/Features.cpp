//===- Features.cpp - Import of what prepares features --------------------===//
//
// Scaler, Normalizer, Binarizer, Imputer, OneHotEncoder, FeatureVectorizer,
// ArrayFeatureExtractor and LabelEncoder of ai.onnx.ml.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/MachineLearning.h"
#include "ONNX/Strings.h"
#include "glowish/Importer/OperatorNotes.h"
#include "glowish/Support/Escape.h"
#include <cmath>

using namespace glowish;
using namespace glowish::onnximport;

/// Returns \p values, one for all features of \p rows or one for each of them,
/// as a value of \p kind that broadcasts to \p rows.
static llvm::Expected<NodeValue> makeParameter(OpContext &op, NodeValue rows,
                                               ElemKind kind,
                                               llvm::StringRef name,
                                               llvm::ArrayRef<double> values) {
  if (values.size() != 1)
    GLOWISH_RETURN_IF_ERROR(
        checkSize(name, values.size(), size_t(rows.getShape()[1]), "feature"));
  return op.finish(makeNumbers(op, kind, {1, int64_t(values.size())}, values));
}

/// Sets output 0 to \p rows in the shape of \p input.
static llvm::Error setRows(OpContext &op, NodeValue rows, NodeValue input) {
  return op.setOutput(0, input.getShape().size() == 1
                             ? op.reshape(rows, input.getShape())
                             : rows);
}

//===- Element by element -------------------------------------------------===//

static llvm::Error importScaler(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, input));
  ElemKind kind = rows.getElemKind();
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue offset,
      makeParameter(op, rows, kind, "offset", op.getFloats("offset")));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue scale,
      makeParameter(op, rows, kind, "scale", op.getFloats("scale")));
  NodeValue result = op.mul(op.sub(rows, offset), scale);
  return setRows(op, op.cast(result, ElemKind::Float), input);
}

/// Divides each row by its largest element, or by a norm, if that is not 0.
static llvm::Error importNormalizer(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, input));
  NodeValue x = op.cast(rows, ElemKind::Float);
  std::string norm = op.getString("norm", "MAX");
  NodeValue divisor;
  if (norm == "MAX")
    divisor = op.reduce(x, "max", {1}, true);
  else if (norm == "L1")
    divisor = op.reduce(op.unary<AbsNode>(x), "sum", {1}, true);
  else if (norm == "L2")
    divisor = op.unary<SqrtNode>(op.reduce(op.mul(x, x), "sum", {1}, true));
  else
    return makeError("attribute 'norm' is '{0}'; accepted: MAX, L1, L2", norm);
  return setRows(op, op.select(op.equal(divisor, 0), x, op.div(x, divisor)),
                 input);
}

static llvm::Error importBinarizer(OpContext &op, NodeValue x) {
  ElemKind kind = x.getElemKind();
  if (!isFloatKind(kind) && !isIntegerKind(kind))
    return makeError("input 0 is {0}; accepted: numbers", x.getType().str());
  double threshold = op.getFloat("threshold", 0);
  // Integers are above a fraction where they are above its floor.
  if (isIntegerKind(kind))
    threshold = std::floor(threshold);
  return op.setOutput(0, op.cast(op.greater(x, threshold), kind));
}

static llvm::Error importImputer(OpContext &op, NodeValue input) {
  int64_t rank = int64_t(input.getShape().size());
  ElemKind kind = input.getElemKind();
  bool isFloat = isFloatKind(kind);
  if (rank < 1 || rank > 2 || !(isFloat || isIntegerKind(kind)))
    return makeError("input 0 is {0}; accepted: numbers of rank 1 or 2",
                     input.getType().str());
  std::vector<int64_t> ints = op.getInts("imputed_value_int64s", {});
  std::vector<double> values = op.getFloats("imputed_value_floats");
  double replaced = op.getFloat("replaced_value_float", 0);
  int64_t replacedInt = op.getInt("replaced_value_int64", 0);
  llvm::StringRef name =
      isFloat ? "imputed_value_floats" : "imputed_value_int64s";
  if (isFloat ? values.empty() : ints.empty())
    return makeError("attribute '{0}' has no elements; accepted: one for all "
                     "features or one for each",
                     name);
  size_t count = isFloat ? values.size() : ints.size();
  if (count != 1)
    GLOWISH_RETURN_IF_ERROR(
        checkSize(name, count, size_t(input.getShape().back()), "feature"));
  NodeValue imputed, old;
  if (isFloat) {
    imputed = makeNumbers(op, kind, {int64_t(count)}, values);
    old = op.scalar(kind, replaced);
  } else {
    imputed = op.cast(op.int64s(ints), kind);
    old = op.cast(op.int64s({replacedInt}), kind);
  }
  NodeValue isOld =
      isFloat && std::isnan(replaced) ? isNaN(op, input) : op.equal(input, old);
  return op.setOutput(0, op.select(isOld, imputed, input));
}

//===- Categories ---------------------------------------------------------===//

/// Returns the categories of input 0: numbers, or those of its strings.
static llvm::Expected<std::vector<int64_t>> readCategories(OpContext &op) {
  llvm::StringRef own = "cats_int64s", other = "cats_strings";
  if (op.hasStrings(0))
    std::swap(own, other);
  if (op.hasAttr(other))
    return makeError("'{0}' is given; accepted: '{1}'", other, own);
  std::vector<int64_t> categories = op.hasStrings(0)
                                        ? op.numberStrings(op.getStrings(own))
                                        : op.getInts(own, {});
  if (categories.empty())
    return makeError("attribute '{0}' has no elements; accepted: one at least",
                     own);
  return categories;
}

static llvm::Error importOneHotEncoder(OpContext &op, NodeValue x) {
  ElemKind kind = x.getElemKind();
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> categories, readCategories(op));
  if (!isFloatKind(kind) && !isIntegerKind(kind))
    return makeError("input 0 is {0}; accepted: numbers", x.getType().str());
  if (op.getInt("zeros", 1) == 0)
    GLOWISH_RETURN_IF_ERROR(
        op.warn("an unknown category becomes zeros; the model asks for an "
                "error when it runs"));
  // A category that is listed twice has its 1 at the last place.
  std::map<int64_t, size_t> places;
  for (auto [i, category] : llvm::enumerate(categories))
    places[category] = i;
  NodeValue isCategory = op.equal(
      op.unsqueeze(op.cast(x, ElemKind::Int64), int64_t(x.getShape().size())),
      op.int64s(categories));
  if (places.size() != categories.size())
    isCategory = op.logicalAnd(
        isCategory, op.table(ElemKind::Bool, {int64_t(categories.size())},
                             [&](DimsRef index) {
                               size_t i = size_t(index[0]);
                               return places.at(categories[i]) == i;
                             }));
  return op.setOutput(0, op.cast(isCategory, ElemKind::Float));
}

namespace {

/// The keys or the values of a LabelEncoder.
struct LabelList {
  /// Null of strings.
  NodeValue numbers;
  std::vector<std::string> strings;
  int64_t size = 0;
};

} // namespace

/// Reads attribute \p name, a tensor, as a list.
static llvm::Error readLabelTensor(OpContext &op, const std::string &name,
                                   LabelList &list) {
  if (const onnx::TensorProto &proto = op.findAttr(name)->t();
      hasStringElements(proto)) {
    list.strings.assign(proto.string_data().begin(), proto.string_data().end());
    list.size = int64_t(list.strings.size());
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getTensor(name));
  list.size = tensor->getNumElements();
  list.numbers = op.reshape(op.createConstant(std::move(tensor)), {list.size});
  return llvm::Error::success();
}

/// Reads the lists `PREFIX_floats`, `PREFIX_int64s` or `PREFIX_strings`, or the
/// tensor `PREFIX_tensor`.
static llvm::Expected<LabelList> readLabelList(OpContext &op,
                                               const std::string &prefix) {
  LabelList list;
  std::vector<int64_t> ints = op.getInts(prefix + "_int64s", {});
  std::vector<double> floats = op.getFloats(prefix + "_floats");
  list.strings = op.getStrings(prefix + "_strings");
  bool hasTensor = op.hasAttr(prefix + "_tensor");
  if (!ints.empty() + !floats.empty() + !list.strings.empty() + hasTensor != 1)
    return makeError("none or several of the attributes '{0}_floats', "
                     "'{0}_int64s', '{0}_strings' and '{0}_tensor' are given; "
                     "accepted: one",
                     prefix);
  if (hasTensor) {
    GLOWISH_RETURN_IF_ERROR(readLabelTensor(op, prefix + "_tensor", list));
  } else if (list.strings.empty()) {
    list.size = int64_t(std::max(ints.size(), floats.size()));
    list.numbers = ints.empty()
                       ? makeNumbers(op, ElemKind::Float, {list.size}, floats)
                       : op.int64s(ints);
  } else {
    list.size = int64_t(list.strings.size());
  }
  return std::move(list);
}

/// Returns the value of a LabelEncoder for keys that it does not have, of
/// \p kind.
static llvm::Expected<NodeValue> readDefaultLabel(OpContext &op,
                                                  ElemKind kind) {
  int64_t ofInts = op.getInt("default_int64", -1);
  double ofFloats = op.getFloat("default_float", -0.0);
  op.ignoreAttrs({"default_string"});
  if (op.hasAttr("default_tensor")) {
    GLOWISH_ASSIGN_OR_RETURN(auto tensor, op.getTensor("default_tensor"));
    if (tensor->getNumElements() != 1)
      return makeError("attribute 'default_tensor' is {0}; accepted: one "
                       "element",
                       tensor->getType().str());
    return op.finish(
        op.cast(op.reshape(op.createConstant(std::move(tensor)), {}), kind));
  }
  return op.finish(isFloatKind(kind)
                       ? op.scalar(kind, ofFloats)
                       : op.cast(op.reshape(op.int64s({ofInts}), {}), kind));
}

/// Maps keys to the values at the same places. Strings as values become their
/// places.
static llvm::Error importLabelEncoder(OpContext &op, NodeValue x) {
  if (op.hasAttr("classes_strings"))
    return makeError("attribute 'classes_strings' is given; accepted: lists of "
                     "keys and values");
  GLOWISH_ASSIGN_OR_RETURN(LabelList keys, readLabelList(op, "keys"));
  if (keys.strings.empty() == op.hasStrings(0))
    return makeError("the keys are {0}; accepted: {1}, as input 0 has",
                     op.hasStrings(0) ? "numbers" : "strings",
                     op.hasStrings(0) ? "strings" : "numbers");
  if (op.hasStrings(0))
    keys.numbers = op.int64s(op.numberStrings(keys.strings));
  GLOWISH_ASSIGN_OR_RETURN(LabelList values, readLabelList(op, "values"));
  if (keys.size != values.size)
    return makeError("there are {0} keys and {1} values; accepted: as many",
                     keys.size, values.size);
  if (op.hasFailed())
    return op.takeError();
  if (keys.numbers.getElemKind() != x.getElemKind())
    return makeError("input 0 is {0} and the keys are {1}; accepted: one kind",
                     x.getType().str(), keys.numbers.getType().str());
  if (!values.numbers) {
    values.numbers = op.iota(ElemKind::Int64, 1, 0, values.size);
    GLOWISH_RETURN_IF_ERROR(op.warn(
        "output " + quote(op.getOutputName(0)) +
        " is the place of the value in 'values_strings', int64, or -1, as "
        "there are no strings: 0 is " +
        quote(values.strings.front())));
    op.setClassNames(0, values.strings);
  }
  ElemKind kind = values.numbers.getElemKind();
  GLOWISH_ASSIGN_OR_RETURN(NodeValue other, readDefaultLabel(op, kind));
  int64_t axis = int64_t(x.getShape().size());
  NodeValue wide = op.unsqueeze(x, axis);
  NodeValue isKey = op.equal(wide, keys.numbers);
  if (isFloatKind(x.getElemKind()))
    isKey = op.logicalOr(
        isKey, op.logicalAnd(isNaN(op, wide), isNaN(op, keys.numbers)));
  NodeValue found = op.cast(isKey, ElemKind::Float);
  if (!found)
    return op.takeError();
  NodeValue place = op.make<ArgMaxNode>(found, axis, /*keepDims=*/false,
                                        /*selectLast=*/false);
  NodeValue isFound =
      op.greater(op.reduce(found, "max", {axis}, /*keepDims=*/false), 0);
  return op.setOutput(
      0, op.select(isFound, op.gather(values.numbers, place, 0), other));
}

//===- Columns ------------------------------------------------------------===//

/// Joins the rows of all inputs, each cut to a number of columns or filled up
/// with zeros.
static llvm::Error importFeatureVectorizer(OpContext &op) {
  op.keepExtents();
  std::vector<int64_t> sizes = op.getInts("inputdimensions", {});
  if (op.getNumInputs() == 0)
    return makeError("there are no inputs; accepted: one or more");
  std::vector<NodeValue> parts;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(i));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, input, i));
    int64_t columns = rows.getShape()[1];
    if (!op.hasAttr("inputdimensions"))
      sizes.push_back(columns);
    if (sizes.size() <= i || sizes[i] < 0 || sizes[i] > INT32_MAX)
      return checkSize("inputdimensions", sizes.size(), op.getNumInputs(),
                       "input, from 0 on");
    rows = op.cast(rows, ElemKind::Float);
    if (sizes[i] < columns)
      rows = op.slice(rows, 1, 0, sizes[i]);
    else if (sizes[i] > columns)
      rows = op.pad(rows, {0, 0, 0, sizes[i] - columns}, 0);
    parts.push_back(rows);
  }
  GLOWISH_RETURN_IF_ERROR(
      checkSize("inputdimensions", sizes.size(), op.getNumInputs(), "input"));
  return op.setOutput(0, op.concat(parts, 1));
}

/// Selects columns: elements of the last dimension.
static llvm::Error importArrayFeatureExtractor(OpContext &op, NodeValue x,
                                               NodeValue indices) {
  int64_t rank = int64_t(x.getShape().size());
  if (rank == 0)
    return makeError("input 0 is {0}; accepted: rank 1 or more",
                     x.getType().str());
  if (indices.getElemKind() != ElemKind::Int64)
    return makeError("input 1 is {0}; accepted: int64",
                     indices.getType().str());
  int64_t count = indices.getType().getNumElements();
  if (auto *constant = indices.getNodeAs<Constant>())
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = constant->getTensor().getAsInt(i);
      if (index < 0 || index >= x.getShape().back())
        return makeError("input 1 has index {0}; accepted: less than {1}, "
                         "from 0 on",
                         index, x.getShape().back());
    }
  if (rank == 1)
    x = op.unsqueeze(x, 0);
  return op.setOutput(0, op.gather(x, op.reshape(indices, {count}),
                                   std::max<int64_t>(rank, 2) - 1));
}

/// The tensor of scores passes through: maps do not exist.
static llvm::Error importZipMap(OpContext &op, NodeValue x) {
  op.ignoreAttrs({"classlabels_int64s", "classlabels_strings"});
  return op.setOutput(0, x);
}

static OnnxOperator scalerOp("Scaler", 1, withExtents<importScaler>,
                             machineLearningDomain);
static OnnxOperator normalizerOp("Normalizer", 1, withExtents<importNormalizer>,
                                 machineLearningDomain);
static OnnxOperator binarizerOp("Binarizer", 1, withExtents<importBinarizer>,
                                machineLearningDomain);
static OnnxOperator imputerOp("Imputer", 1, withExtents<importImputer>,
                              machineLearningDomain);
static OnnxOperator oneHotEncoderOp("OneHotEncoder", 1,
                                    withExtents<importOneHotEncoder>,
                                    machineLearningDomain);
static OnnxOperator labelEncoderOp("LabelEncoder", 2,
                                   withExtents<importLabelEncoder>,
                                   machineLearningDomain);
static OnnxOperator featureVectorizerOp("FeatureVectorizer", 1,
                                        importFeatureVectorizer,
                                        machineLearningDomain);
static OnnxOperator
    arrayFeatureExtractorOp("ArrayFeatureExtractor", 1,
                            withExtents<importArrayFeatureExtractor>,
                            machineLearningDomain);
static OnnxOperator zipMapOp("ZipMap", 1, withExtents<importZipMap>,
                             machineLearningDomain);

static OnnxOperatorNotes
    oneHotEncoderNotes("OneHotEncoder",
                       {.limit = "numbers, or strings that the model states; "
                                 "unknown categories become zeros"},
                       machineLearningDomain);
static OnnxOperatorNotes
    labelEncoderNotes("LabelEncoder",
                      {.limit = "keys are numbers, or strings that the model "
                                "states; strings as values become their "
                                "places"},
                      machineLearningDomain);
static OnnxOperatorNotes zipMapNotes("ZipMap",
                                     {.limit = "the tensor passes through"},
                                     machineLearningDomain);
