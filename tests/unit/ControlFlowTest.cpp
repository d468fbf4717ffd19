//===- ControlFlowTest.cpp - Branches and loops on both back ends ---------===//

#include "Differential.h"
#include "glowish/Graph/GraphText.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

using Inputs = std::map<std::string, std::vector<double>>;
using Outputs = std::map<std::string, std::vector<double>>;

std::unique_ptr<Module> parse(llvm::StringRef text) {
  return llvm::cantFail(parseModule(text, "test", nullptr));
}

/// What \p backend makes of \p text; an input that is not in \p inputs has
/// random numbers.
llvm::Expected<Outputs> run(Backend &backend, llvm::StringRef text,
                            const Inputs &inputs) {
  CompilationOptions options;
  options.verifyEach = true;
  Compilation compilation(backend, options);
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(parse(text)));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(program));
  Outputs outputs;
  uint64_t seed = 7;
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    Tensor tensor = makeRandom(buffer->getType(), seed++);
    auto given = inputs.find(buffer->getModelName().str());
    if (given != inputs.end())
      for (auto [i, value] : llvm::enumerate(given->second))
        tensor.setFromDouble(i, value);
    GLOWISH_RETURN_IF_ERROR(session->setInput(buffer, tensor));
  }
  GLOWISH_RETURN_IF_ERROR(session->run());
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isOutput())
      continue;
    Tensor tensor = session->getTensor(buffer);
    std::vector<double> &values = outputs[buffer->getModelName().str()];
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      values.push_back(tensor.getAsDouble(i));
  }
  return outputs;
}

/// The interpreter's outputs, which those of compiled code are compared with.
Outputs runEverywhere(llvm::StringRef text, const Inputs &inputs,
                      double bound = 1e-6) {
  auto expected = run(*createInterpreter(), text, inputs);
  if (!expected) {
    ADD_FAILURE() << llvm::toString(expected.takeError());
    return {};
  }
  for (TargetOptions options : getLevels()) {
    for (unsigned threads : {1u, 3u}) {
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      auto actual = run(*backend, text, inputs);
      if (!actual) {
        ADD_FAILURE() << llvm::toString(actual.takeError());
        return {};
      }
      for (const auto &[name, values] : *expected)
        for (size_t i = 0; i < values.size(); ++i)
          EXPECT_NEAR((*actual)[name][i], values[i],
                      bound * std::max(1.0, std::abs(values[i])))
              << name << "[" << i << "] on '" << options.cpu << "' with "
              << threads << " threads";
    }
  }
  return *expected;
}

/// The message of the error that a run ends with, the same on all back ends.
std::string getRunError(llvm::StringRef text, const Inputs &inputs) {
  auto getError = [&](Backend &backend) {
    auto outputs = run(backend, text, inputs);
    return outputs ? "no error" : llvm::toString(outputs.takeError());
  };
  std::string expected = getError(*createInterpreter());
  for (TargetOptions options : getLevels())
    for (unsigned threads : {1u, 3u}) {
      options.numThreads = threads;
      EXPECT_EQ(getError(*llvm::cantFail(CPUBackend::create(options))),
                expected)
          << options.cpu;
    }
  return expected;
}

/// The message of a loop called \p name that goes on after \p most iterations.
std::string tooManyTrips(llvm::StringRef name, int64_t most,
                         bool hasScans = false) {
  return llvm::formatv(
      "instruction '{0}': the loop has more than the {1} iterations that it "
      "was compiled for; state a larger bound with «max-trip-count=N»{2}",
      name, most,
      hasScans ? ", or, if the model states it, as the extent of what the loop "
                 "collects"
               : "");
}

/// a, b = b, a + b at most 8 times, and a each time.
const char *fibonacci = R"(
module "m"
placeholder %trips : int64<> input "trips"
placeholder %begins : bool<> input "begins"
placeholder %a : float<3> output "a"
placeholder %b : float<3> output "b"
placeholder %all : float<8x3> output "all"
placeholder %count : int64<> output "count"
constant %one : float<3> = [1.0, 2.0, 3.0]
constant %limit : float<> = [50.0]
constant %index : int64<> = [0]
function "main" {
  %loop:4 = Loop(%trips, %begins, %one, %one) {body = body "body" (%i : int64<>, %c : bool<>, %x : float<3>, %y : float<3>) -> (%rc : bool<>, %rx : float<3>, %ry : float<3>, %rs : float<3>) {
    %sum = Add(%x, %y) : float<3>
    %first = Gather(%sum, %index) {axis = 0} : float<>
    %less = Less(%first, %limit) : bool<>
    Save(%less, %rc)
    Save(%y, %rx)
    Save(%sum, %ry)
    Save(%x, %rs)
  }, numStates = 2, maxTripCount = 8} : float<3>, float<3>, float<8x3>, int64<>
  Save(%loop:0, %a)
  Save(%loop:1, %b)
  Save(%loop:2, %all)
  Save(%loop:3, %count)
}
)";

} // namespace

TEST(ControlFlow, StatesSwap) {
  Outputs outputs = runEverywhere(fibonacci, {{"trips", {5}}, {"begins", {1}}});
  EXPECT_EQ(outputs["a"], (std::vector<double>{8, 16, 24}));
  EXPECT_EQ(outputs["b"], (std::vector<double>{13, 26, 39}));
  EXPECT_EQ(outputs["count"], std::vector<double>{5});
  std::vector<double> &all = outputs["all"];
  ASSERT_EQ(all.size(), 24u);
  const double rows[] = {1, 1, 2, 3, 5, 0, 0, 0};
  for (unsigned i = 0; i < 24; ++i)
    EXPECT_EQ(all[i], rows[i / 3] * (i % 3 + 1));
}

TEST(ControlFlow, LoopsMayReachTheirBound) {
  Outputs outputs = runEverywhere(fibonacci, {{"trips", {8}}, {"begins", {1}}});
  EXPECT_EQ(outputs["count"], std::vector<double>{8});
  EXPECT_EQ(outputs["b"][0], 55);
  // The condition ends the loop after the eighth iteration: 55 is too much.
  for (double trips : {9.0, 1e15}) {
    outputs = runEverywhere(fibonacci, {{"trips", {trips}}, {"begins", {1}}});
    EXPECT_EQ(outputs["count"], std::vector<double>{8});
  }
}

TEST(ControlFlow, LoopsBeyondTheirBoundAreErrors) {
  std::string text = fibonacci;
  text.replace(text.find("[50.0]"), 6, "[99.0]");
  for (double trips : {9.0, 1e15})
    EXPECT_EQ(getRunError(text, {{"trips", {trips}}, {"begins", {1}}}),
              tooManyTrips("loop", 8, /*hasScans=*/true));
  EXPECT_EQ(getRunError(text, {{"trips", {8}}, {"begins", {1}}}), "no error");
  EXPECT_EQ(getRunError(text, {{"trips", {9}}, {"begins", {0}}}), "no error");
  EXPECT_EQ(getRunError(text, {{"trips", {-9}}, {"begins", {1}}}), "no error");
}

/// A constant trip count: the loop is not folded, as it fails where it runs.
TEST(ControlFlow, ConstantLoopsBeyondTheirBoundAreErrorsOfRuns) {
  const char *text = R"(
module "m"
placeholder %flag : bool<> input "flag"
placeholder %y : float<> output "y"
constant %trips : int64<> = [9223372036854775807]
constant %one : float<> = [1.0]
function "main" {
  %r = If(%flag) {thenBody = body "then" () -> (%t : float<>) {
    %loop:2 = Loop(%trips, none, %one) {body = body "body" (%i : int64<>, %c : bool<>, %s : float<>) -> (%rc : bool<>, %rs : float<>) {
      %sum = Add(%s, %s) : float<>
      Save(%c, %rc)
      Save(%sum, %rs)
    }, numStates = 1, maxTripCount = 4} : float<>, int64<>
    Save(%loop:0, %t)
  }, elseBody = body "else" () -> (%e : float<>) {
    Save(%one, %e)
  }} : float<>
  Save(%r, %y)
}
)";
  EXPECT_EQ(getRunError(text, {{"flag", {1}}}), tooManyTrips("loop", 4));
  EXPECT_EQ(getRunError(text, {{"flag", {0}}}), "no error");
}

TEST(ControlFlow, LoopsMayNotBegin) {
  for (Inputs inputs : {Inputs{{"trips", {0}}, {"begins", {1}}},
                        Inputs{{"trips", {-3}}, {"begins", {1}}},
                        Inputs{{"trips", {5}}, {"begins", {0}}}}) {
    Outputs outputs = runEverywhere(fibonacci, inputs);
    EXPECT_EQ(outputs["count"], std::vector<double>{0});
    EXPECT_EQ(outputs["b"], (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(outputs["all"], std::vector<double>(24, 0.0));
  }
}

TEST(ControlFlow, ConditionsEndLoops) {
  std::string text = fibonacci;
  text.replace(text.find("[50.0]"), 6, "[6.00]");
  Outputs outputs = runEverywhere(text, {{"trips", {8}}, {"begins", {1}}});
  // 2, 3, 5, and 8 is no longer less than 6.
  EXPECT_EQ(outputs["count"], std::vector<double>{4});
  EXPECT_EQ(outputs["b"][0], 8);
}

/// An If in a Loop in an If; x is captured by all three, a constant by the
/// innermost.
TEST(ControlFlow, BodiesNest) {
  const char *text = R"(
module "m"
placeholder %flag : bool<> input "flag"
placeholder %trips : int64<> input "trips"
placeholder %x : float<3x7> input "x"
placeholder %y : float<3x7> output "y"
placeholder %rows : float<5x3> output "rows"
constant %two : float<> = [2.0]
constant %one : int64<> = [1]
constant %zeros : float<5x3> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
function "main" {
  %r:2 = If(%flag, %x, %trips) {thenBody = body "then" (%tx : float<3x7>, %tt : int64<>) -> (%ty : float<3x7>, %trows : float<5x3>) {
    %loop:3 = Loop(%tt, none, %tx, %tx) {body = body "body" (%i : int64<>, %c : bool<>, %state : float<3x7>, %cap : float<3x7>) -> (%next : bool<>, %s : float<3x7>, %row : float<3>) {
      %early = Less(%i, %one) : bool<>
      %branch = If(%early, %state, %cap) {thenBody = body "add" (%p : float<3x7>, %q : float<3x7>) -> (%pq : float<3x7>) {
        %sum = Add(%p, %q) : float<3x7>
        Save(%sum, %pq)
      }, elseBody = body "double" (%u : float<3x7>, %v : float<3x7>) -> (%uv : float<3x7>) {
        %mul = Mul(%u, %two) : float<3x7>
        %less = Sub(%mul, %v) : float<3x7>
        Save(%less, %uv)
      }} : float<3x7>
      %total = Reduce(%branch) {mode = "sum", axes = [1], keepDims = false} : float<3>
      Save(%c, %next)
      Save(%branch, %s)
      Save(%total, %row)
    }, numStates = 1, maxTripCount = 5} : float<3x7>, float<5x3>, int64<>
    Save(%loop:0, %ty)
    Save(%loop:1, %trows)
  }, elseBody = body "else" (%ex : float<3x7>, %et : int64<>) -> (%ey : float<3x7>, %erows : float<5x3>) {
    %negative = Neg(%ex) : float<3x7>
    Save(%negative, %ey)
    Save(%zeros, %erows)
  }} : float<3x7>, float<5x3>
  Save(%r:0, %y)
  Save(%r:1, %rows)
}
)";
  std::vector<double> x;
  for (unsigned i = 0; i < 21; ++i)
    x.push_back(i - 4.0);
  Outputs outputs =
      runEverywhere(text, {{"flag", {1}}, {"trips", {3}}, {"x", x}});
  // x + x = 2x, then 2 * 2x - x = 3x, then 5x.
  for (unsigned i = 0; i < 21; ++i)
    EXPECT_EQ(outputs["y"][i], 5 * x[i]);
  double sum = 0;
  for (unsigned i = 14; i < 21; ++i)
    sum += x[i];
  EXPECT_EQ(outputs["rows"][2], 2 * sum);
  EXPECT_EQ(outputs["rows"][5], 3 * sum);
  EXPECT_EQ(outputs["rows"][8], 5 * sum);
  EXPECT_EQ(outputs["rows"][11], 0);
  outputs = runEverywhere(text, {{"flag", {0}}, {"trips", {3}}, {"x", x}});
  EXPECT_EQ(outputs["y"][20], -x[20]);
  EXPECT_EQ(getRunError(text, {{"flag", {1}}, {"trips", {6}}, {"x", x}}),
            tooManyTrips("loop", 5, /*hasScans=*/true));
  EXPECT_EQ(getRunError(text, {{"flag", {0}}, {"trips", {6}}, {"x", x}}),
            "no error");
}

/// Weights that are captured by a body are packed there.
TEST(ControlFlow, ConvolutionsInBodiesHavePackedWeights) {
  auto build = [](Module &module, Function &function) {
    auto x = NodeValue(module.createPlaceholder(
        "x", Type(ElemKind::Float, {1, 9, 17, 33}), true, false));
    auto trips = NodeValue(module.createPlaceholder(
        "trips", Type(ElemKind::Int64, {}), true, false));
    NodeValue filter = constant(module, ElemKind::Float, {33, 3, 3, 33});
    auto body = FunctionBody::create(module, "body");
    Function &inner = body->getFunction();
    inner.addParameter("i", Type(ElemKind::Int64, {}));
    NodeValue goesOn(inner.addParameter("c", Type(ElemKind::Bool, {})));
    NodeValue state(inner.addParameter("s", x.getType()));
    NodeValue weights(inner.addParameter("w", filter.getType()));
    std::vector<int64_t> ones = {1, 1}, pads = {1, 1, 1, 1};
    NodeValue result =
        inner
            .create<ConvolutionNode>("conv", state, weights, NodeValue(), ones,
                                     pads, ones, 1)
            ->getResult();
    result = inner.create<TanhNode>("tanh", result)->getResult();
    inner.addResult("rc", goesOn);
    inner.addResult("rs", result);
    std::vector<NodeValue> values = {x, filter};
    return function
        .create<LoopNode>("loop", trips, NodeValue(),
                          std::shared_ptr<Body>(body), 1, 4, values)
        ->getResult();
  };
  Inputs inputs = {{"trips", {3}}};
  Module module("m");
  NodeValue result = build(module, *module.createFunction("main"));
  module.findFunction("main")->create<SaveNode>(
      "save", result,
      NodeValue(module.createPlaceholder("y", result.getType(), false, true)));
  std::string text, side;
  llvm::raw_string_ostream os(text), sideOs(side);
  printModule(os, module, &sideOs);
  std::shared_ptr<llvm::MemoryBuffer> sideFile =
      llvm::MemoryBuffer::getMemBufferCopy(side);
  std::vector<double> expected;
  auto runOn = [&](Backend &backend) {
    Compilation compilation(backend, {});
    PlannedProgram program = llvm::cantFail(compilation.compile(
        llvm::cantFail(parseModule(text, "test", sideFile))));
    unsigned packed = 0;
    forEachFunction(program.getIR(), [&](const IRFunction &each) {
      for (const Instruction &instr : each.getInstrs())
        packed += instr.getKindName().starts_with("CPU");
    });
    EXPECT_EQ(packed, backend.getName() == "CPU" ? 1u : 0u);
    auto session = llvm::cantFail(Session::create(program));
    for (const Buffer *buffer : session->getPlaceholders()) {
      if (!buffer->isInput())
        continue;
      Tensor tensor = makeRandom(buffer->getType(), 5);
      if (buffer->getModelName() == "trips")
        tensor.setFromDouble(0, 3);
      llvm::cantFail(session->setInput(buffer, tensor));
    }
    llvm::cantFail(session->run());
    Tensor y =
        session->getTensor(llvm::cantFail(session->findPlaceholder("y")));
    std::vector<double> values;
    for (int64_t i = 0; i < y.getNumElements(); ++i)
      values.push_back(y.getAsDouble(i));
    return values;
  };
  expected = runOn(*createInterpreter());
  for (TargetOptions options : getLevels()) {
    options.numThreads = 3;
    std::vector<double> actual =
        runOn(*llvm::cantFail(CPUBackend::create(options)));
    for (size_t i = 0; i < expected.size(); ++i)
      // Every convolution enlarges the rounding errors of the one before it.
      ASSERT_NEAR(actual[i], expected[i], 1e-3) << i;
  }
}

TEST(ControlFlow, FunctionsAreCopiedWithTheirBodies) {
  auto module = parse(fibonacci);
  Function *copy = module->getFunctions().front()->clone("copy");
  std::vector<Function *> bodies = getNested(*copy);
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_NE(bodies, getNested(*module->getFunctions().front()));
  EXPECT_EQ(bodies[0]->getResults().size(), 4u);
  EXPECT_EQ(bodies[0]->getResultValue(0).node->getKind(), NodeKind::Less);
}

TEST(ControlFlow, TextErrors) {
  auto getError = [](llvm::StringRef from, llvm::StringRef to) {
    std::string text = fibonacci;
    size_t at = text.find(from.str());
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to.str());
    auto module = parseModule(text, "f", nullptr);
    return module ? "parsed" : llvm::toString(module.takeError());
  };
  // A value of the function around is no value of the body.
  EXPECT_THAT(getError("Add(%x, %y)", "Add(%x, %trips)"),
              testing::HasSubstr("'%trips' belongs to another function"));
  EXPECT_THAT(getError("    Save(%y, %rx)\n", ""),
              testing::HasSubstr("nothing is saved to the result 'rx'"));
  EXPECT_THAT(getError("maxTripCount = 8", "maxTripCount = -1"),
              testing::HasSubstr("attribute 'maxTripCount': -1 is negative"));
  EXPECT_THAT(getError("numStates = 2", "numStates = 3"),
              testing::HasSubstr("attribute 'numStates': 3 of 2 values"));
  EXPECT_THAT(getError("numStates = 2", "numStates = 1"),
              testing::HasSubstr("'%loop' is float<8x3>, not float<3>"));
  EXPECT_THAT(
      getError("(%trips, %begins, %one, %one)", "(%trips, %begins, %one)"),
      testing::HasSubstr("attribute 'numStates': 2 of 1 values"));
  EXPECT_THAT(getError("%c : bool<>", "%c : int64<>"),
              testing::HasSubstr("attribute 'body': the parameters are"));
  EXPECT_THAT(getError("body = body \"body\"", "body = \"body\""),
              testing::HasSubstr("expected 'body'"));
}
