//===- Caffe2Form.cpp - Ranged models as nets of Caffe2 -------------------===//

#include "Caffe2Net.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Support/Error.h"
#include <numeric>

using namespace glowish;
using namespace glowish::fuzz;

//===- Movement -----------------------------------------------------------===//

static llvm::Error writeTranspose(NetWriter &w, const FormNode &n) {
  NetOperator op = w.add("Transpose", {n.getInput(0)}, {n.getOutput()});
  if (n.hasAttr("perm"))
    op.addInts("axes", n.getInts("perm"));
  return llvm::Error::success();
}

static llvm::Error writeConcat(NetWriter &w, const FormNode &n) {
  w.add("Concat", {n.proto.input().begin(), n.proto.input().end()},
        {n.getOutput(), w.makeName()})
      .addInt("axis", n.getInt("axis", 0));
  return llvm::Error::success();
}

/// In Caffe2, -1 is the place behind the last element.
static llvm::Error writeSlice(NetWriter &w, const FormNode &n) {
  auto starts = n.findInts(1), ends = n.findInts(2), axes = n.findInts(3),
       steps = n.findInts(4);
  if (!starts || !ends || !axes || !steps ||
      llvm::any_of(*steps, [](int64_t step) { return step != 1; }))
    return n.refuse("only of known places, one by one");
  std::vector<int64_t> from(n.getRank(0), 0), to(n.getRank(0), -1);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    size_t dim = size_t(axis < 0 ? axis + int64_t(n.getRank(0)) : axis);
    auto convert = [](int64_t place) {
      constexpr int64_t most = INT32_MAX;
      return place >= most   ? -1
             : place >= 0    ? place
             : place > -most ? place - 1
                             : -most;
    };
    from[dim] = convert((*starts)[i]);
    to[dim] = convert((*ends)[i]);
  }
  w.add("Slice", {n.getInput(0)}, {n.getOutput()})
      .addInts("starts", from)
      .addInts("ends", to);
  return llvm::Error::success();
}

static llvm::Error writeSplit(NetWriter &w, const FormNode &n) {
  int64_t axis = n.getAxis("axis", 0, n.getRank(0));
  std::vector<int64_t> parts;
  for (unsigned i = 0; i < n.getNumOutputs(); ++i)
    parts.push_back(n.getOutputType(i).getDim(unsigned(axis)));
  w.add("Split", {n.getInput(0)},
        {n.proto.output().begin(), n.proto.output().end()})
      .addInt("axis", axis)
      .addInts("split", parts);
  return llvm::Error::success();
}

//===- Shapes -------------------------------------------------------------===//

static llvm::Error writeShape(NetWriter &w, const FormNode &n) {
  int64_t rank = n.getRank(0), start = n.getAxis("start", 0, n.getRank(0)),
          end = n.getAxis("end", rank, n.getRank(0));
  std::vector<int64_t> axes;
  for (int64_t d = std::max<int64_t>(start, 0); d < std::min(end, rank); ++d)
    axes.push_back(d);
  if (axes.empty() && rank)
    return n.refuse("none of the extents");
  NetOperator op = w.add("Shape", {n.getInput(0)}, {n.getOutput()});
  if (int64_t(axes.size()) < rank)
    op.addInts("axes", axes);
  return llvm::Error::success();
}

static llvm::Error writeSize(NetWriter &w, const FormNode &n) {
  w.add("ReduceProd", {w.add("Shape", {n.getInput(0)})}, {n.getOutput()})
      .addInts("axes", {0})
      .addInt("keepdims", 0);
  return llvm::Error::success();
}

static llvm::Error writeReshape(NetWriter &w, const FormNode &n) {
  auto shape = n.findInts(1);
  if (shape && n.getInt("allowzero", 0) && llvm::is_contained(*shape, 0))
    return n.refuse("0 is the extent of the input");
  std::string old = w.makeName();
  if (shape && !shape->empty() && n.takesOther())
    w.add("Reshape", {n.getInput(0)}, {n.getOutput(), old})
        .addInts("shape", *shape);
  else
    w.add("Reshape", {n.getInput(0), n.getInput(1)}, {n.getOutput(), old});
  return llvm::Error::success();
}

static llvm::Error writeFlatten(NetWriter &w, const FormNode &n) {
  w.add("Flatten", {n.getInput(0)}, {n.getOutput()})
      .addInt("axis", n.getAxis("axis", 1, n.getRank(0)));
  return llvm::Error::success();
}

/// Unsqueeze and Squeeze.
static llvm::Error writeUnit(NetWriter &w, const FormNode &n) {
  auto axes = n.findInts(1);
  if (!axes)
    return n.refuse("only stated dimensions");
  bool adds = n.getOp() == "Unsqueeze";
  int64_t rank = adds ? n.getOutputType().getRank() : n.getRank(0);
  for (int64_t &axis : *axes)
    axis += axis < 0 ? rank : 0;
  llvm::sort(*axes);
  w.add(adds ? "ExpandDims" : "Squeeze", {n.getInput(0)}, {n.getOutput()})
      .addInts("dims", *axes);
  return llvm::Error::success();
}

/// A fill of the shape that input \p index of \p n has as its elements.
static std::string addFill(NetWriter &w, const FormNode &n, unsigned index,
                           ElemKind kind, double value) {
  std::string name = w.makeName();
  w.add("ConstantFill", {n.getInput(index)}, {name})
      .addInt("input_as_shape", 1)
      .addString("dtype", getKindName(kind))
      .addFloat("value", value);
  return name;
}

/// A sum with what changes no element.
static llvm::Error writeExpand(NetWriter &w, const FormNode &n) {
  ElemKind kind = n.getType(0).getKind();
  std::string fill = addFill(w, n, 1, kind, isFloatKind(kind) ? -0.0 : 0.0);
  w.add(kind == ElemKind::Bool ? "Or" : "Add", {n.getInput(0), fill},
        {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeConstantOfShape(NetWriter &w, const FormNode &n) {
  if (n.hasAttr("value"))
    return n.refuse("only zeros");
  w.add("Copy", {addFill(w, n, 0, ElemKind::Float, 0)}, {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeTile(NetWriter &w, const FormNode &n) {
  auto repeats = n.findInts(1);
  if (!repeats)
    return n.refuse("only of known repeats");
  int64_t axis = 0;
  for (auto [d, count] : llvm::enumerate(*repeats))
    if (count != 1 && (*repeats)[size_t(axis)] != 1)
      return n.refuse("only along one dimension");
    else if (count != 1)
      axis = int64_t(d);
  w.add("Tile", {n.getInput(0)}, {n.getOutput()})
      .addInt("tiles", (*repeats)[size_t(axis)])
      .addInt("axis", axis);
  return llvm::Error::success();
}

//===- Indices ------------------------------------------------------------===//

static llvm::Error writeGather(NetWriter &w, const FormNode &n) {
  w.add("Gather", {n.getInput(0), n.getInput(1)}, {n.getOutput()})
      .addInt("axis", n.getInt("axis", 0));
  return llvm::Error::success();
}

static llvm::Error writeGatherND(NetWriter &w, const FormNode &n) {
  if (!n.hasPlainIndices(1))
    return n.refuse("no negative indices");
  w.add("GatherND", {n.getInput(0), n.getInput(1)}, {n.getOutput()});
  return llvm::Error::success();
}

/// A row.
static llvm::Error writeScatterND(NetWriter &w, const FormNode &n) {
  if (!n.hasPlainIndices(1) || n.getType(1).getShape() != DimsRef({1, 1}))
    return n.refuse("only one row, and no negative indices");
  std::string index = w.makeName();
  w.add("Squeeze", {n.getInput(1)}, {index}).addInts("dims", {0});
  w.add("ScatterAssign", {n.getInput(0), index, n.getInput(2)},
        {n.getOutput()});
  return llvm::Error::success();
}

//===- Reductions ---------------------------------------------------------===//

/// A reduction of \p x, which has the dimensions of input 0.
static llvm::Error writeReduction(NetWriter &w, const FormNode &n,
                                  llvm::StringRef op, const std::string &x,
                                  const std::string &result) {
  auto axes = n.findAxes();
  if (!axes)
    return n.refuse("only of stated dimensions");
  bool isBack = !n.getInt("keepdims", 1) && !axes->empty() &&
                int64_t(axes->front() + axes->size()) == n.getRank(0);
  if (isBack && (op == "Sum" || op == "Mean") && n.takesOther()) {
    w.add("ReduceBack" + op.str(), {x}, {result})
        .addInt("num_reduce_dim", int64_t(axes->size()));
    return llvm::Error::success();
  }
  w.add("Reduce" + op.str(), {x}, {result})
      .addInts("axes", *axes)
      .addInt("keepdims", n.getInt("keepdims", 1));
  return llvm::Error::success();
}

static llvm::Error writeReduce(NetWriter &w, const FormNode &n) {
  if (n.getOp() == "ReduceMean" && !isFloatKind(n.getType(0).getKind()))
    return n.refuse("only means of floats");
  return writeReduction(w, n, n.getOp().drop_front(strlen("Reduce")),
                        n.getInput(0), n.getOutput());
}

static llvm::Error writeReduceL1(NetWriter &w, const FormNode &n) {
  return writeReduction(w, n, "Sum", w.add("Abs", {n.getInput(0)}),
                        n.getOutput());
}

static llvm::Error writeReduceSquares(NetWriter &w, const FormNode &n) {
  bool hasRoot = n.getOp() == "ReduceL2";
  if (hasRoot && !isFloatKind(n.getType(0).getKind()))
    return n.refuse("a root of floats");
  std::string sum = hasRoot ? w.makeName() : n.getOutput();
  GLOWISH_RETURN_IF_ERROR(
      writeReduction(w, n, "Sum", w.add("Sqr", {n.getInput(0)}), sum));
  if (hasRoot)
    w.add("Sqrt", {sum}, {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeReduceLogSum(NetWriter &w, const FormNode &n) {
  if (!isFloatKind(n.getType(0).getKind()))
    return n.refuse("a logarithm of floats");
  std::string sum = w.makeName();
  GLOWISH_RETURN_IF_ERROR(writeReduction(w, n, "Sum", n.getInput(0), sum));
  w.add("Log", {sum}, {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeArg(NetWriter &w, const FormNode &n) {
  if (n.getInt("select_last_index", 0))
    return n.refuse("only the first index");
  w.add(n.getOp(), {n.getInput(0)}, {n.getOutput()})
      .addInt("axis", n.getInt("axis", 0))
      .addInt("keepdims", n.getInt("keepdims", 1));
  return llvm::Error::success();
}

static llvm::Error writeTopK(NetWriter &w, const FormNode &n) {
  auto count = n.findInts(1);
  int64_t last = int64_t(n.getRank(0)) - 1;
  if (!count || !n.getInt("largest", 1) || (*count)[0] < 1 ||
      n.getAxis("axis", -1, n.getRank(0)) != last)
    return n.refuse("only the largest along the last dimension");
  w.add("TopK", {n.getInput(0)}, {n.getOutput(0), n.getOutput(1), w.makeName()})
      .addInt("k", (*count)[0]);
  return llvm::Error::success();
}

/// Caffe2 flattens the dimensions from the axis on.
static llvm::Error writeSoftmax(NetWriter &w, const FormNode &n) {
  unsigned rank = n.getRank(0);
  int64_t axis = n.getAxis("axis", -1, rank), last = int64_t(rank) - 1;
  if (axis == last) {
    w.add("Softmax", {n.getInput(0)}, {n.getOutput()}).addInt("axis", last);
    return llvm::Error::success();
  }
  std::vector<int64_t> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[size_t(axis)], swapped.back());
  std::string turned = w.makeName(), result = w.makeName();
  w.add("Transpose", {n.getInput(0)}, {turned}).addInts("axes", swapped);
  w.add("Softmax", {turned}, {result}).addInt("axis", last);
  w.add("Transpose", {result}, {n.getOutput()}).addInts("axes", swapped);
  return llvm::Error::success();
}

static llvm::Error writeLayerNorm(NetWriter &w, const FormNode &n) {
  w.add("LayerNorm", {n.proto.input().begin(), n.proto.input().end()},
        {n.getOutput()})
      .addInt("axis", n.getAxis("axis", -1, n.getRank(0)))
      .addFloat("epsilon", n.getFloat("epsilon", 1e-5));
  return llvm::Error::success();
}

static llvm::Error writeRMSNorm(NetWriter &w, const FormNode &n) {
  Tensor zeros(n.getType(1));
  std::string shift = w.makeName();
  if (!w.addConstant(shift, zeros))
    return n.refuse("there is no such kind");
  w.add("RMSNorm", {n.getInput(0), n.getInput(1), shift},
        {n.getOutput(), w.makeName()})
      .addInt("axis", n.getAxis("axis", -1, n.getRank(0)))
      .addFloat("eps", n.getFloat("epsilon", 1e-5));
  return llvm::Error::success();
}

//===- Matmuls ------------------------------------------------------------===//

static llvm::Error writeMatMul(NetWriter &w, const FormNode &n) {
  bool isPlain = n.getRank(0) == 2 && n.getRank(1) == 2;
  w.add(isPlain && !n.takesOther() ? "MatMul" : "BatchMatMul",
        {n.getInput(0), n.getInput(1)}, {n.getOutput()});
  return llvm::Error::success();
}

/// A matmul, or a fully connected layer where it is one.
static llvm::Error writeGemm(NetWriter &w, const FormNode &n) {
  if (n.getFloat("alpha", 1) != 1 || n.getFloat("beta", 1) != 1)
    return n.refuse("no factors");
  int64_t swapsX = n.getInt("transA", 0), swapsY = n.getInt("transB", 0);
  if (!swapsX && n.hasInput(2) && n.getRank(2) == 1) {
    w.add(swapsY ? "FC" : "FCTransposed",
          {n.getInput(0), n.getInput(1), n.getInput(2)}, {n.getOutput()});
    return llvm::Error::success();
  }
  std::string matmul = n.hasInput(2) ? w.makeName() : n.getOutput();
  w.add("MatMul", {n.getInput(0), n.getInput(1)}, {matmul})
      .addInt("trans_a", swapsX)
      .addInt("trans_b", swapsY);
  if (n.hasInput(2))
    w.add("Add", {matmul, n.getInput(2)}, {n.getOutput()});
  return llvm::Error::success();
}

/// Conv, MaxPool and AveragePool. Those along one dimension are of images of
/// one row.
static llvm::Error writeWindow(NetWriter &w, const FormNode &n) {
  unsigned rank = n.getRank(0);
  bool isLine = rank == 3;
  if (n.getNumOutputs() > 1 || (rank != 4 && !isLine) ||
      n.hasAttr("auto_pad") || n.getInt("ceil_mode", 0))
    return n.refuse("only of images, and of stated pads");
  std::vector<std::string> inputs(n.proto.input().begin(),
                                  n.proto.input().end());
  for (size_t i = 0; isLine && i < std::min<size_t>(inputs.size(), 2); ++i) {
    std::string image = w.makeName();
    w.add("ExpandDims", {inputs[i]}, {image}).addInts("dims", {2});
    inputs[i] = image;
  }
  std::string result = isLine ? w.makeName() : n.getOutput();
  {
    NetOperator op = w.add(n.getOp(), inputs, {result});
    for (auto [attr, arg, filler] : {std::tuple("kernel_shape", "kernels", 1),
                                     {"strides", "strides", 1},
                                     {"dilations", "dilations", 1},
                                     {"pads", "pads", 0}}) {
      std::vector<int64_t> values = n.getInts(attr);
      if (values.empty())
        continue;
      if (isLine)
        for (size_t at = 0; at < values.size(); at += 2)
          values.insert(values.begin() + int64_t(at), filler);
      op.addInts(arg, values);
    }
    if (n.getOp() == "Conv")
      op.addInt("group", n.getInt("group", 1));
    if (n.getOp() == "AveragePool")
      op.addInt("count_include_pad", n.getInt("count_include_pad", 0));
  }
  if (isLine)
    w.add("Squeeze", {result}, {n.getOutput()}).addInts("dims", {2});
  return llvm::Error::success();
}

/// GlobalMaxPool and GlobalAveragePool.
static llvm::Error writeGlobalPool(NetWriter &w, const FormNode &n) {
  if (n.getRank(0) != 4)
    return n.refuse("only of images");
  w.add(n.getOp() == "GlobalMaxPool" ? "MaxPool" : "AveragePool",
        {n.getInput(0)}, {n.getOutput()})
      .addInt("global_pooling", 1);
  return llvm::Error::success();
}

/// Pixel y of the result is pixel y / scale.
static llvm::Error writeResize(NetWriter &w, const FormNode &n) {
  const Tensor *scales = n.findConstant(2);
  if (n.getRank(0) != 4 || !scales || n.getString("mode", "") != "nearest" ||
      n.getString("nearest_mode", "") != "floor" ||
      n.getString("coordinate_transformation_mode", "") != "asymmetric")
    return n.refuse("only images whose pixels are repeated");
  w.add("ResizeNearest", {n.getInput(0)}, {n.getOutput()})
      .addFloat("height_scale", scales->getAsDouble(2))
      .addFloat("width_scale", scales->getAsDouble(3));
  return llvm::Error::success();
}

//===- The table ----------------------------------------------------------===//

static NetWriter::NodeWriter findWriter(llvm::StringRef op) {
  static const std::map<llvm::StringRef, NetWriter::NodeWriter> writers = {
      {"Transpose", writeTranspose},
      {"Concat", writeConcat},
      {"Slice", writeSlice},
      {"Split", writeSplit},
      {"Shape", writeShape},
      {"Size", writeSize},
      {"Reshape", writeReshape},
      {"Flatten", writeFlatten},
      {"Unsqueeze", writeUnit},
      {"Squeeze", writeUnit},
      {"Expand", writeExpand},
      {"ConstantOfShape", writeConstantOfShape},
      {"Tile", writeTile},
      {"Gather", writeGather},
      {"GatherND", writeGatherND},
      {"ScatterND", writeScatterND},
      {"ReduceSum", writeReduce},
      {"ReduceMean", writeReduce},
      {"ReduceMax", writeReduce},
      {"ReduceMin", writeReduce},
      {"ReduceProd", writeReduce},
      {"ReduceL1", writeReduceL1},
      {"ReduceL2", writeReduceSquares},
      {"ReduceSumSquare", writeReduceSquares},
      {"ReduceLogSum", writeReduceLogSum},
      {"ArgMax", writeArg},
      {"ArgMin", writeArg},
      {"TopK", writeTopK},
      {"Softmax", writeSoftmax},
      {"LayerNormalization", writeLayerNorm},
      {"RMSNormalization", writeRMSNorm},
      {"MatMul", writeMatMul},
      {"Gemm", writeGemm},
      {"Conv", writeWindow},
      {"MaxPool", writeWindow},
      {"AveragePool", writeWindow},
      {"GlobalMaxPool", writeGlobalPool},
      {"GlobalAveragePool", writeGlobalPool},
      {"Resize", writeResize}};
  auto found = writers.find(op);
  return found == writers.end() ? findCaffe2ElementWriter(op) : found->second;
}

static std::vector<std::string> listOperators() {
  std::vector<std::string> names;
  for (const Caffe2OperatorInfo &info : listCaffe2Operators())
    names.push_back(info.name);
  return names;
}

const Form fuzz::caffe2Form = {
    .name = "caffe2",
    .takes = [](llvm::StringRef op) { return findWriter(op) != nullptr; },
    .listOperators = listOperators,
    .write =
        [](const TypedModel &model) {
          return NetWriter(model).write(findWriter);
        },
    .import =
        [](const FormModel &written, const TypedModel &model) {
          return importCaffe2({written.files[0], written.files[1]}, "fuzz",
                              makeFormOptions(model, /*statesTypes=*/true));
        }};
