//===- ExporterScalarTest.cpp - Element-wise nodes as ONNX ----------------===//

#include "Rewritten.h"
#include "ScalarOperands.h"

using namespace glowish;

namespace {

/// The opset of written models has no kinds of low precision.
std::vector<ElemKind> getKinds(const ScalarOpInfo &info) {
  std::vector<ElemKind> kinds;
  for (ElemKind kind : allElemKinds)
    if (!isQuantizedKind(kind) && !isLowPrecisionKind(kind) &&
        info.accepts(kind))
      kinds.push_back(kind);
  return kinds;
}

double getParameter(llvm::StringRef name) {
  return name == "low" ? 1 : name == "high" ? 2 : 0.75;
}

/// \p info on operands [3, 7], [7] and a scalar.
NodeValue makeScalar(Function &function, Module &module,
                     const ScalarOpInfo &info, ElemKind kind, ElemKind to) {
  NodeBuilder b(function, "node");
  NodeKind nodeKind = *findNodeKind(info.name);
  NodeDraft draft{nodeKind, {}, {}};
  const Dims shapes[] = {{3, 7}, {7}, {}};
  for (unsigned i = 0; i < info.numArgs; ++i) {
    bool isBool = i == 0 && info.firstIsBool;
    NodeValue x = newInput(module, isBool ? ElemKind::Bool : kind, shapes[i]);
    if (!isBool && isFloatKind(kind))
      x = moveIntoRange(b, info, x);
    else if (info.hasPole) // ONNX does not say what an integer / 0 is.
      x = b.max(x, 1);
    draft.operands.push_back(x);
  }
  for (const AttrInfo &attr : getNodeInfo(nodeKind).attrs)
    draft.attrs.push_back(attr.kind == AttrKind::Kind ? AttrValue(to)
                          : attr.kind == AttrKind::Ints
                              ? AttrValue(makeTable(kind))
                              : AttrValue(getParameter(attr.name)));
  return NodeValue(function.create("node", std::move(draft)));
}

} // namespace

TEST(ExporterScalar, AllOperatorsOnAllKinds) {
  unsigned count = 0;
  for (const ScalarOpInfo &info : getScalarOpTable()) {
    if (!hasOnnxExporter(*findNodeKind(info.name)))
      continue;
    bool isCast = info.result == ScalarOpInfo::Result::To;
    for (ElemKind kind : getKinds(info))
      for (ElemKind to : isCast ? getKinds(info) : std::vector{kind}) {
        std::string name = (info.name + " of " + getElemKindName(kind) +
                            " to " + getElemKindName(to))
                               .str();
        checkRewritten(name, [&] {
          return buildModule([&](Function &function, Module &module) {
            return makeScalar(function, module, info, kind, to);
          });
        });
        ++count;
      }
  }
  EXPECT_GT(count, 400u);
}

TEST(ExporterScalar, NarrowIntegersSaturate) {
  for (ElemKind to :
       {ElemKind::Int8, ElemKind::UInt8, ElemKind::Int16, ElemKind::UInt16})
    for (ElemKind from : {ElemKind::Float, ElemKind::Float16})
      checkRewritten("saturated", [&] {
        return buildModule([&](Function &function, Module &module) {
          NodeBuilder b(function, "cast");
          NodeValue x = newInput(module, from, {3, 7});
          return b.cast(b.mul(x, 50000.0), to);
        });
      });
  // An ONNX Cast does not promise to: the limits are written.
  auto module = buildModule([](Function &function, Module &module) {
    return NodeBuilder(function, "cast")
        .cast(newInput(module, ElemKind::Float, {3}), ElemKind::Int8);
  });
  EXPECT_EQ(getOperators(llvm::cantFail(writeOnnx(*module))),
            (std::vector<std::string>{"Clip", "Cast"}));
}

TEST(ExporterScalar, ShiftsByAllBits) {
  for (ElemKind kind : {ElemKind::UInt8, ElemKind::Int32, ElemKind::UInt64})
    for (bool isLeft : {false, true})
      checkRewritten("shift", [&] {
        return buildModule([&](Function &function, Module &module) {
          NodeBuilder b(function, "shift");
          NodeValue x = b.table(kind, {9}, [](DimsRef i) { return i[0] + 1; });
          NodeValue y = b.add(
              newInput(module, kind, {9}),
              b.table(kind, {9}, [](DimsRef i) { return 8.0 * double(i[0]); }));
          return isLeft ? b.make<ShiftLeftNode>(x, y)
                        : b.make<ShiftRightNode>(x, y);
        });
      });
}

TEST(ExporterScalar, SlopesThatDoNotBroadcastToX) {
  checkRewritten("prelu", [] {
    return buildModule([](Function &function, Module &module) {
      NodeBuilder b(function, "prelu");
      NodeValue x = newInput(module, ElemKind::Float, {7});
      return b.make<PReluNode>(x, newInput(module, ElemKind::Float, {3, 7}));
    });
  });
}
