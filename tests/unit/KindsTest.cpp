//===- KindsTest.cpp - Every operator in every element kind ---------------===//
//
// A table of operators with kernels and of the kinds that they take: the type
// rules take those and no others, and the CPU back end agrees with the
// interpreter. (CPUDifferentialTest does it for the element-wise ones.)
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <cstring>

using namespace glowish;

namespace {

enum class Kinds { Floats, FloatsAnd64Bits, Signed, Numbers, Any };

/// One row: makes the operator on operands of a kind.
struct Row {
  std::string name;
  Kinds kinds;
  std::function<llvm::Expected<NodeValue>(Function &, Module &, ElemKind)> make;
};

bool takes(Kinds kinds, ElemKind kind) {
  if (kinds == Kinds::Any || isFloatKind(kind))
    return true;
  return isIntegerKind(kind) &&
         (kinds == Kinds::Numbers ||
          (kinds == Kinds::Signed && isSignedIntegerKind(kind)) ||
          (kinds == Kinds::FloatsAnd64Bits && getElemSize(kind) == 8));
}

using Ints = std::vector<int64_t>;

template <typename T, typename... Args>
llvm::Expected<NodeValue> tryMake(Function &f, Args &&...args) {
  llvm::Expected<Node *> node =
      f.tryCreate("op", T::draft(std::forward<Args>(args)...));
  if (!node)
    return node.takeError();
  return (*node)->getResult();
}

NodeValue indices(Module &m, Ints values) {
  return NodeValue(m.createConstant(
      "i", Tensor::fromValues<int64_t>(
               Type(ElemKind::Int64, {int64_t(values.size())}), values)));
}

void addMatMuls(std::vector<Row> &rows) {
  for (int64_t group : {1, 3})
    rows.push_back({"Convolution of group " + std::to_string(group),
                    Kinds::Numbers, [=](Function &f, Module &m, ElemKind kind) {
                      NodeValue x = input(m, kind, {1, 5, 7, 3});
                      NodeValue w = constant(m, kind, {9, 3, 3, 3 / group});
                      return tryMake<ConvolutionNode>(
                          f, x, w, constant(m, kind, {9}), Ints{1, 2},
                          Ints{1, 1, 0, 1}, Ints{1, 1}, group);
                    }});
  rows.push_back(
      {"MatMul", Kinds::Numbers, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<MatMulNode>(f, input(m, kind, {3, 7}),
                                    constant(m, kind, {7, 33}));
       }});
  rows.push_back({"batched MatMul", Kinds::Numbers,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<MatMulNode>(f, input(m, kind, {2, 1, 17}),
                                               input(m, kind, {2, 17, 3}));
                  }});
  rows.push_back(
      {"Attention", Kinds::Floats, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<AttentionNode>(
             f, input(m, kind, {2, 3, 7}), input(m, kind, {2, 5, 7}),
             input(m, kind, {2, 5, 17}), NodeValue(), 0.5, false);
       }});
}

void addWindows(std::vector<Row> &rows) {
  rows.push_back(
      {"MaxPool", Kinds::Numbers, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<MaxPoolNode>(f, input(m, kind, {1, 7, 5, 17}),
                                     Ints{3, 2}, Ints{2, 1}, Ints{1, 0, 1, 0},
                                     Ints{1, 1});
       }});
  rows.push_back(
      {"AvgPool", Kinds::Floats, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<AvgPoolNode>(f, input(m, kind, {1, 7, 5, 17}),
                                     Ints{3, 2}, Ints{2, 1}, Ints{1, 0, 1, 0},
                                     Ints{1, 1}, true);
       }});
  rows.push_back({"ConvolutionFilterGradient", Kinds::Floats,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<ConvolutionFilterGradientNode>(
                        f, input(m, kind, {2, 7, 5, 17}),
                        input(m, kind, {2, 4, 4, 3}), Ints{3, 2}, Ints{2, 1},
                        Ints{1, 0, 1, 0}, Ints{1, 1}, 1);
                  }});
  rows.push_back({"MaxPoolGradient", Kinds::Floats,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<MaxPoolGradientNode>(
                        f, input(m, kind, {1, 7, 5, 17}),
                        input(m, kind, {1, 4, 4, 17}), Ints{3, 2}, Ints{2, 1},
                        Ints{1, 0, 1, 0}, Ints{1, 1});
                  }});
  rows.push_back({"AvgPoolGradient", Kinds::Floats,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<AvgPoolGradientNode>(
                        f, input(m, kind, {1, 4, 4, 17}), Ints{7, 5},
                        Ints{3, 2}, Ints{2, 1}, Ints{1, 0, 1, 0}, Ints{1, 1},
                        true);
                  }});
  rows.push_back({"Resize nearest", Kinds::Numbers,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<ResizeNode>(
                        f, input(m, kind, {1, 3, 5, 7}), Ints{7, 4}, 7.0 / 3,
                        0.8, "nearest", "half_pixel", "round_prefer_floor");
                  }});
  rows.push_back(
      {"Softmax", Kinds::Floats, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<SoftmaxNode>(f, input(m, kind, {3, 33}), 1);
       }});
  rows.push_back({"LayerNormalization", Kinds::Floats,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<LayerNormalizationNode>(
                        f, input(m, kind, {3, 33}), constant(m, kind, {33}),
                        NodeValue(), 1, 1e-5, true);
                  }});
  rows.push_back({"GroupNormalization", Kinds::Floats,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<GroupNormalizationNode>(
                        f, input(m, kind, {2, 5, 12}), constant(m, kind, {12}),
                        NodeValue(), 2, 4, 1e-5);
                  }});
}

void addReductions(std::vector<Row> &rows) {
  for (llvm::StringRef mode : {"sum", "mean", "max", "min", "prod"})
    for (int64_t axis : {0, 2})
      rows.push_back({("Reduce " + mode).str(),
                      mode == "mean" ? Kinds::FloatsAnd64Bits : Kinds::Numbers,
                      [=](Function &f, Module &m, ElemKind kind) {
                        return tryMake<ReduceNode>(f,
                                                   input(m, kind, {3, 1, 17}),
                                                   mode, Ints{axis}, true);
                      }});
  rows.push_back(
      {"CumSum", Kinds::Numbers, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<CumSumNode>(f, input(m, kind, {3, 17}), 1, true, true);
       }});
  rows.push_back(
      {"ArgMax", Kinds::Numbers, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<ArgMaxNode>(f, input(m, kind, {3, 17}), 1, true, true);
       }});
  rows.push_back(
      {"TopK", Kinds::Numbers, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<TopKNode>(f, input(m, kind, {3, 17}), 5, true);
       }});
}

void addMovement(std::vector<Row> &rows) {
  rows.push_back(
      {"Gather", Kinds::Any, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<GatherNode>(f, input(m, kind, {3, 7, 5}),
                                    indices(m, {6, 0, 6}), 1);
       }});
  rows.push_back(
      {"Concat", Kinds::Any, [](Function &f, Module &m, ElemKind kind) {
         NodeValue parts[] = {input(m, kind, {3, 7}), input(m, kind, {3, 0}),
                              input(m, kind, {3, 17})};
         return tryMake<ConcatNode>(f, parts, 1);
       }});
  rows.push_back(
      {"Slice", Kinds::Any, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<SliceNode>(f, input(m, kind, {7, 33}), Ints{1, 30},
                                   Ints{3, 10}, Ints{2, -3});
       }});
  rows.push_back(
      {"Transpose", Kinds::Any, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<TransposeNode>(f, input(m, kind, {3, 17, 5}),
                                       Ints{2, 0, 1});
       }});
  // Loops that read planes and write pixels.
  for (int64_t channels : {2, 3, 4, 5})
    rows.push_back({"Max of " + std::to_string(channels) + " planes",
                    Kinds::Numbers, [=](Function &f, Module &m, ElemKind kind) {
                      NodeValue planes = input(m, kind, {2, channels, 3, 17});
                      NodeValue bounds = input(m, kind, {channels});
                      planes = f.create<TransposeNode>("pixels", planes,
                                                       Ints{0, 2, 3, 1})
                                   ->getResult();
                      bounds = f.create<BroadcastNode>("bounds", bounds,
                                                       Dims{2, 3, 17, channels})
                                   ->getResult();
                      return tryMake<MaxNode>(f, planes, bounds);
                    }});
  rows.push_back(
      {"Broadcast", Kinds::Any, [](Function &f, Module &m, ElemKind kind) {
         return tryMake<BroadcastNode>(f, input(m, kind, {3, 1}),
                                       Dims{2, 3, 17});
       }});
  for (const char *mode : {"constant", "reflect", "edge"})
    rows.push_back({std::string("Pad ") + mode, Kinds::Any,
                    [=](Function &f, Module &m, ElemKind kind) {
                      return tryMake<PadNode>(f, input(m, kind, {3, 7}),
                                              Ints{2, 1, 0, 3}, mode, 1.0);
                    }});
  rows.push_back({"DynamicUpdateSlice", Kinds::Any,
                  [](Function &f, Module &m, ElemKind kind) {
                    return tryMake<DynamicUpdateSliceNode>(
                        f, input(m, kind, {5, 7}), input(m, kind, {5, 3}),
                        indices(m, {2}), 1);
                  }});
  for (const char *mode : {"replace", "add", "mul", "max", "min"})
    rows.push_back(
        {std::string("Scatter ") + mode,
         mode == std::string("replace") ? Kinds::Any : Kinds::Numbers,
         [=](Function &f, Module &m, ElemKind kind) {
           return tryMake<ScatterNode>(f, input(m, kind, {5, 7}),
                                       indices(m, {4, 0, 4}),
                                       input(m, kind, {3, 7}), mode);
         }});
}

/// Sums are rounded in another order.
double getBound(ElemKind kind) {
  return kind == ElemKind::Float16    ? 4e-3
         : kind == ElemKind::BFloat16 ? 3e-2
         : kind == ElemKind::Double   ? 1e-12
                                      : 1e-5;
}

void check(const Row &row, ElemKind kind) {
  std::string name = row.name + " of " + getElemKindName(kind).str();
  std::string refused;
  Module scratch("scratch");
  if (auto made = row.make(*scratch.createFunction("f"), scratch, kind); !made)
    refused = llvm::toString(made.takeError());
  ASSERT_EQ(refused.empty(), takes(row.kinds, kind)) << name << ": " << refused;
  if (!refused.empty())
    return;
  auto build = [&](Function &f, Module &m) {
    return llvm::cantFail(row.make(f, m, kind));
  };
  Tensor expected = llvm::cantFail(run(*createInterpreter(), build));
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  Tensor actual = llvm::cantFail(run(*backend, build));
  if (!isFloatKind(kind)) {
    ASSERT_TRUE(actual.isBitwiseEqual(expected)) << name;
    return;
  }
  ASSERT_EQ(actual.getType(), expected.getType()) << name;
  double largest = 1e-3;
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    largest = std::max(largest, std::abs(expected.getAsDouble(i)));
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i),
                getBound(kind) * largest)
        << name << " at " << i;
}

template <typename NodeT> Row makeUnary(const char *name) {
  return {name, Kinds::Signed, [](Function &f, Module &m, ElemKind kind) {
            return tryMake<NodeT>(f, input(m, kind, {3, 17}));
          }};
}
template <typename NodeT> Row makeBinary(const char *name) {
  return {name, Kinds::Numbers, [](Function &f, Module &m, ElemKind kind) {
            return tryMake<NodeT>(f, input(m, kind, {3, 17}),
                                  input(m, kind, {3, 17}));
          }};
}

void addArithmetic(std::vector<Row> &rows) {
  llvm::append_values(rows, makeBinary<AddNode>("Add"),
                      makeBinary<SubNode>("Sub"), makeBinary<MulNode>("Mul"),
                      makeBinary<DivNode>("Div"), makeBinary<MaxNode>("Max"),
                      makeBinary<MinNode>("Min"), makeBinary<PowNode>("Pow"),
                      makeUnary<NegNode>("Neg"), makeUnary<AbsNode>("Abs"),
                      makeUnary<SignNode>("Sign"), makeUnary<ReluNode>("Relu"));
}

/// Integers of 64 bits with as many digits as there are, from the seed.
Tensor makeLarge(const Type &type, uint64_t seed) {
  Random random(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    uint64_t bits = random.next() >> random.below(64);
    std::memcpy(static_cast<char *>(tensor.getBytes()) + 8 * i, &bits, 8);
  }
  return tensor;
}

/// A double has no place for these: a kernel that computes in it is found.
void checkLarge(const Row &row, ElemKind kind) {
  auto build = [&](Function &f, Module &m) {
    return llvm::cantFail(row.make(f, m, kind));
  };
  Tensor expected =
      llvm::cantFail(run(*createInterpreter(), build, nullptr, makeLarge));
  for (const TargetOptions &target : getLevelsInTurn()) {
    auto backend = llvm::cantFail(CPUBackend::create(target));
    Tensor actual = llvm::cantFail(run(*backend, build, nullptr, makeLarge));
    ASSERT_TRUE(actual.isBitwiseEqual(expected))
        << row.name << " of " << getElemKindName(kind).str() << " on "
        << target.cpu;
  }
}

void checkAll(void (*addRows)(std::vector<Row> &)) {
  std::vector<Row> rows;
  addRows(rows);
  for (const Row &row : rows)
    for (ElemKind kind : allElemKinds)
      if (!isQuantizedKind(kind))
        check(row, kind);
}

} // namespace

TEST(Kinds, MatMuls) { checkAll(addMatMuls); }
TEST(Kinds, Windows) { checkAll(addWindows); }
TEST(Kinds, Reductions) { checkAll(addReductions); }
TEST(Kinds, Movement) { checkAll(addMovement); }
TEST(Kinds, LargeIntegers) {
  std::vector<Row> rows;
  for (auto *addRows :
       {addMatMuls, addWindows, addReductions, addMovement, addArithmetic})
    addRows(rows);
  for (const Row &row : rows)
    for (ElemKind kind : {ElemKind::Int64, ElemKind::UInt64})
      if (takes(row.kinds, kind))
        checkLarge(row, kind);
}
