//===- TFLiteShapes.cpp - Operators of shapes as TensorFlow Lite's --------===//

#include "TFLiteWriter.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

/// The extents of \p x, whose dimensions are those of input 0 of \p n, from
/// \p start up to \p end, as a list of \p kind.
static int addExtents(TFLiteWriter &w, const FormNode &n, ElemKind kind,
                      int64_t start, int64_t end) {
  int all =
      w.compute(Builtin::SHAPE, kind, {w.getInput(n, 0)},
                schema::CreateShapeOptions(w.fbb(), *findTensorType(kind)));
  if (start == 0 && end == int64_t(n.getRank(0)))
    return all;
  return w.compute(Builtin::STRIDED_SLICE, kind,
                   {all, w.addInts({start}), w.addInts({end}), w.addInts({1})},
                   schema::CreateStridedSliceOptions(w.fbb(), 0, 0, 0, 0, 0));
}

/// The product of these extents, in a list.
static int addCount(TFLiteWriter &w, const FormNode &n, ElemKind kind,
                    int64_t start, int64_t end) {
  return w.compute(Builtin::REDUCE_PROD, kind,
                   {addExtents(w, n, kind, start, end), w.addInts({0})},
                   schema::CreateReducerOptions(w.fbb(), true));
}

static llvm::Error writeShape(TFLiteWriter &w, const FormNode &n) {
  int64_t rank = n.getRank(0), start = n.getAxis("start", 0, n.getRank(0)),
          end = std::min(n.getAxis("end", rank, n.getRank(0)), rank);
  if (start == 0 && end == rank) {
    w.add(Builtin::SHAPE, {w.getInput(n, 0)}, {w.getOutput(n)},
          schema::CreateShapeOptions(w.fbb(), schema::TensorType::INT64));
    return llvm::Error::success();
  }
  // Of int32, as files mostly have it.
  int part = addExtents(w, n, ElemKind::Int32, start, end);
  w.add(Builtin::CAST, {part}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeSize(TFLiteWriter &w, const FormNode &n) {
  int shape = addExtents(w, n, ElemKind::Int64, 0, n.getRank(0));
  w.add(Builtin::REDUCE_PROD, {shape, w.addInts({0})}, {w.getOutput(n)},
        schema::CreateReducerOptions(w.fbb(), false));
  return llvm::Error::success();
}

/// A 0 that is the extent of the input is that.
static llvm::Error writeReshape(TFLiteWriter &w, const FormNode &n) {
  auto shape = n.findInts(1);
  int numbers = w.getInput(n, 1);
  if (shape && !n.getInt("allowzero", 0) && llvm::is_contained(*shape, 0)) {
    std::vector<int> parts;
    for (auto [d, extent] : llvm::enumerate(*shape))
      parts.push_back(extent ? w.addInts({extent})
                             : addExtents(w, n, ElemKind::Int32, int64_t(d),
                                          int64_t(d) + 1));
    numbers = w.compute(Builtin::CONCATENATION, ElemKind::Int32, parts,
                        schema::CreateConcatenationOptions(w.fbb(), 0));
  }
  w.add(Builtin::RESHAPE, {w.getInput(n, 0), numbers}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeFlatten(TFLiteWriter &w, const FormNode &n) {
  int64_t rank = n.getRank(0), axis = n.getAxis("axis", 1, n.getRank(0));
  std::vector<int> parts;
  for (auto [start, end] : {std::pair(int64_t(0), axis), {axis, rank}})
    parts.push_back(start == end ? w.addInts({1})
                                 : addCount(w, n, ElemKind::Int32, start, end));
  int shape = w.compute(Builtin::CONCATENATION, ElemKind::Int32, parts,
                        schema::CreateConcatenationOptions(w.fbb(), 0));
  w.add(Builtin::RESHAPE, {w.getInput(n, 0), shape}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeUnsqueeze(TFLiteWriter &w, const FormNode &n) {
  auto axes = n.findInts(1);
  if (!axes || axes->size() != 1)
    return n.refuse("one stated dimension");
  w.add(Builtin::EXPAND_DIMS,
        {w.getInput(n, 0), w.addNumber(ElemKind::Int32, double((*axes)[0]))},
        {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeSqueeze(TFLiteWriter &w, const FormNode &n) {
  auto axes = n.findInts(1);
  if (!axes)
    return n.refuse("only stated dimensions");
  std::vector<int32_t> dims(axes->begin(), axes->end());
  w.add(Builtin::SQUEEZE, {w.getInput(n, 0)}, {w.getOutput(n)},
        schema::CreateSqueezeOptionsDirect(w.fbb(), &dims));
  return llvm::Error::success();
}

/// Where the shape is that of the result.
static llvm::Error writeExpand(TFLiteWriter &w, const FormNode &n) {
  const Type &result = n.getOutputType();
  const std::string &shape = n.getInput(1);
  for (const auto &proto : n.model.model.proto.graph().node()) {
    if (proto.op_type() != "Shape" || proto.output(0) != shape)
      continue;
    const Type &like = n.model.getType(proto.input(0));
    if (like.getRank() != result.getRank())
      break;
    bool isSame = true;
    for (unsigned d = 0; d < result.getRank(); ++d)
      isSame = isSame && like.getLength(d) == result.getLength(d);
    if (!isSame)
      break;
    w.add(Builtin::BROADCAST_TO, {w.getInput(n, 0), w.getTensor(shape)},
          {w.getOutput(n)});
    return llvm::Error::success();
  }
  return n.refuse("only to the shape of the result");
}

static llvm::Error writeTile(TFLiteWriter &w, const FormNode &n) {
  w.add(Builtin::TILE, {w.getInput(n, 0), w.getInput(n, 1)}, {w.getOutput(n)});
  return llvm::Error::success();
}

static llvm::Error writeConstantOfShape(TFLiteWriter &w, const FormNode &n) {
  if (n.hasAttr("value"))
    return n.refuse("only zeros");
  w.add(Builtin::FILL,
        {w.getInput(n, 0), w.addNumber(n.getOutputType().getKind(), 0)},
        {w.getOutput(n)});
  return llvm::Error::success();
}

TFLiteWriter::NodeWriter fuzz::findTFLiteShapeWriter(llvm::StringRef op) {
  static const std::map<llvm::StringRef, TFLiteWriter::NodeWriter> writers = {
      {"Shape", writeShape},
      {"Size", writeSize},
      {"Reshape", writeReshape},
      {"Flatten", writeFlatten},
      {"Unsqueeze", writeUnsqueeze},
      {"Squeeze", writeSqueeze},
      {"Expand", writeExpand},
      {"Tile", writeTile},
      {"ConstantOfShape", writeConstantOfShape}};
  auto found = writers.find(op);
  return found == writers.end() ? nullptr : found->second;
}
