//===- RequantizationTest.cpp - Rounded floats to bytes through integers --===//
//
// Programs before and after they are rewritten, by the interpreter: on numbers
// between integers, and on those that saturate or are none.
//
//===----------------------------------------------------------------------===//

#include "Selection/Requantization.h"
#include "IRHelpers.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;
using namespace glowish::test;

namespace {

struct Case {
  ElemKind kind;
  double zeroPoint;
  bool hasRelu;
};

constexpr Case cases[] = {
    {ElemKind::Int8, 0, false},    {ElemKind::Int8, -128, true},
    {ElemKind::Int8, -128, false}, {ElemKind::Int8, 5, true},
    {ElemKind::UInt8, 0, true},    {ElemKind::UInt8, 131, false},
    {ElemKind::UInt8, 255, true},
};

Buffer *createConstant(IRFunction &function, llvm::ArrayRef<float> values,
                       DimsRef shape) {
  Tensor tensor(Type(ElemKind::Float, shape));
  llvm::copy(values, tensor.data<float>().begin());
  return function.createConstant(
      "c", std::make_shared<const Tensor>(std::move(tensor)));
}

/// One loop: \p x times 1, quantized as \p c says.
std::unique_ptr<IRFunction> build(const Case &c, llvm::ArrayRef<float> x) {
  auto function = std::make_unique<IRFunction>("main");
  auto count = int64_t(x.size());
  Buffer *in = createConstant(*function, x, {count});
  Buffer *zero = createConstant(*function, {float(c.zeroPoint)}, {});
  Buffer *zeros = function->createView("z", zero, in->getType(), 0, Dims{0});
  Buffer *out = function->createMutable("y", Type(c.kind, {count}), "y",
                                        /*isInput=*/false, /*isOutput=*/true);
  ScalarProgram program;
  constexpr ElemKind f32 = ElemKind::Float;
  program.steps = {{ScalarOp::Mul, {0, 1}, {}, f32}};
  if (c.hasRelu)
    program.steps.push_back({ScalarOp::Relu, {3}, {}, f32});
  auto last = unsigned(program.steps.size()) + 2;
  program.steps.push_back({ScalarOp::Round, {last}, {}, f32});
  program.steps.push_back({ScalarOp::Add, {last + 1, 2}, {}, f32});
  program.steps.push_back({ScalarOp::Cast, {last + 2}, {}, c.kind});
  Buffer *one = createConstant(*function, {1.0f}, {});
  Buffer *ones = function->createView("o", one, in->getType(), 0, Dims{0});
  function->create(
      "q",
      ElementWiseLoopInstr::draft(out, std::move(program), {in, ones, zeros}),
      nullptr);
  return function;
}

const ScalarProgram &getProgram(const IRFunction &function) {
  return llvm::cast<ElementWiseLoopInstr>(function.getInstrs().front())
      .getProgram();
}

} // namespace

TEST(Requantization, BytesStay) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {
      0,      -0.0f,    0.49999997f, 0.5f,         1.5f,       2.5f,   -0.5f,
      -1.5f,  126.5f,   127.5f,      -128,         -128.5f,    254.5f, 255.5f,
      1e4f,   -1e4f,    1e9f,        -1e9f,        2147483648, -3e9f,  1e30f,
      -1e30f, infinity, -infinity,   std::nanf("")};
  for (int i = -600; i <= 600; ++i)
    x.push_back(float(i) / 4);
  for (const Case &c : cases) {
    auto function = build(c, x);
    auto expected = interpretOutputs(*function, 1, PlanOptions());
    TargetDescription target;
    target.vectorBits = 0;
    prepareRequantizations(*function, target);
    llvm::cantFail(verify(*function));
    EXPECT_TRUE(
        llvm::any_of(getProgram(*function).steps, [](const ScalarStep &step) {
          return step.op == ScalarOp::Clip;
        }));
    EXPECT_EQ(interpretOutputs(*function, 1, PlanOptions()), expected)
        << int(c.kind) << " zero point " << c.zeroPoint;
  }
}

/// With numbers alone there is nothing to compare, and a Relu that saturation
/// does is dropped.
TEST(Requantization, BoundsSpareComparisons) {
  for (bool hasRelu : {false, true}) {
    auto function = build({ElemKind::Int8, -128, hasRelu}, {1, 2.5f, -7});
    TargetDescription target;
    target.vectorBits = 0;
    prepareRequantizations(*function, target);
    llvm::SmallVector<ScalarOp, 8> ops;
    for (const ScalarStep &step : getProgram(*function).steps)
      ops.push_back(step.op);
    EXPECT_EQ(llvm::ArrayRef(ops),
              llvm::ArrayRef({ScalarOp::Mul, ScalarOp::Round, ScalarOp::Cast,
                              ScalarOp::Add, ScalarOp::Clip, ScalarOp::Cast}));
  }
}

TEST(Requantization, VectorsStay) {
  auto function = build({ElemKind::Int8, 5, false}, {1, 2});
  TargetDescription target;
  target.vectorBits = 256;
  std::string before = print(*function);
  prepareRequantizations(*function, target);
  EXPECT_EQ(print(*function), before);
}
