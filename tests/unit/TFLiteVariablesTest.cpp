//===- TFLiteVariablesTest.cpp - What is kept from run to run -------------===//
//
// Resources and variable tensors on both back ends, also in subgraphs, and what
// is refused.
//
//===----------------------------------------------------------------------===//

#include "TFLiteRuns.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using tflite::schema::BuiltinOperator;
using tflite::schema::TensorType;
using Doubles = std::vector<double>;

/// Before and after an assignment in one run, by two handles of one name.
TEST(TFLiteVariables, ReadsSeeAssignmentsBeforeThem) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int first = model.handle("sum"), second = model.handle("sum"),
      other = model.handle("sum", "elsewhere");
  int before = model.read(first, "before");
  model.assign(second, model.add(before, x, "new"));
  int after = model.read(first, "after");
  int apart = model.read(other, "apart");
  model.assign(other, before);
  std::string bytes = model.finish({x}, {before, after, apart});
  auto runs = runTFLiteEverywhere(
      bytes, {{{"x", {1, 2}}}, {{"x", {10, 20}}}, {{"x", {0, 0}}}});
  EXPECT_EQ(runs[0]["before"], (Doubles{0, 0}));
  EXPECT_EQ(runs[0]["after"], (Doubles{1, 2}));
  EXPECT_EQ(runs[1]["before"], (Doubles{1, 2}));
  EXPECT_EQ(runs[1]["after"], (Doubles{11, 22}));
  EXPECT_EQ(runs[1]["apart"], (Doubles{0, 0}));
  EXPECT_EQ(runs[2]["before"], (Doubles{11, 22}));
  EXPECT_EQ(runs[2]["apart"], (Doubles{1, 2}));
  auto module = llvm::cantFail(importTFLiteBytes(bytes));
  EXPECT_TRUE(module->findPlaceholder("sum"));
  EXPECT_TRUE(module->findPlaceholder("elsewhere/sum"));
}

/// Two variables exchange their values.
TEST(TFLiteVariables, VariablesAreSwapped) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int one = model.handle("one"), two = model.handle("two");
  int a = model.read(one, "a"), b = model.read(two, "b");
  model.assign(one, b);
  model.assign(two, model.add(a, x, "c"));
  auto runs = runTFLiteEverywhere(
      model.finish({x}, {a, b}),
      {{{"x", {1, 2}}}, {{"x", {0, 0}}}, {{"x", {0, 0}}}, {{"x", {0, 0}}}});
  EXPECT_EQ(runs[1]["a"], (Doubles{0, 0}));
  EXPECT_EQ(runs[1]["b"], (Doubles{1, 2}));
  EXPECT_EQ(runs[2]["a"], (Doubles{1, 2}));
  EXPECT_EQ(runs[2]["b"], (Doubles{0, 0}));
  EXPECT_EQ(runs[3]["a"], (Doubles{0, 0}));
  EXPECT_EQ(runs[3]["b"], (Doubles{1, 2}));
}

/// A sum whose variable CALL_ONCE sets to \p values.
static std::string makeInitializedSum(std::vector<float> values,
                                      int numCalls = 1) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  for (int i = 0; i < numCalls; ++i)
    model.callOnce(1);
  int handle = model.handle("sum");
  int y = model.add(model.read(handle, "old"), x, "y");
  model.assign(handle, y);
  // The one that ran already does nothing.
  for (int i = 1; i < numCalls; ++i)
    model.callOnce(1);
  model.endSubgraph({x}, {y});
  handle = model.handle("sum");
  model.assign(handle, model.floats(values));
  model.endSubgraph({}, {}, "init");
  return model.finish();
}

TEST(TFLiteVariables, InitializationRunsOnce) {
  for (int numCalls : {1, 2}) {
    auto runs = runTFLiteEverywhere(makeInitializedSum({5, 7}, numCalls),
                                    {{{"x", {1, 2}}}, {{"x", {10, 20}}}});
    EXPECT_EQ(runs[0]["y"], (Doubles{6, 9}));
    EXPECT_EQ(runs[1]["y"], (Doubles{16, 29}));
  }
}

/// States are zeros before the first run anyway.
TEST(TFLiteVariables, InitializationByZerosNeedsNoState) {
  for (int numCalls : {1, 2}) {
    std::string bytes = makeInitializedSum({0, 0}, numCalls);
    auto module = llvm::cantFail(importTFLiteBytes(bytes));
    EXPECT_EQ(module->getPlaceholders().size(), 3u);
    auto runs =
        runTFLiteEverywhere(bytes, {{{"x", {1, 2}}}, {{"x", {10, 20}}}});
    EXPECT_EQ(runs[0]["y"], (Doubles{1, 2}));
    EXPECT_EQ(runs[1]["y"], (Doubles{11, 22}));
  }
  // But not these.
  EXPECT_EQ(llvm::cantFail(importTFLiteBytes(makeInitializedSum({-0.0f, 0})))
                ->getPlaceholders()
                .size(),
            4u);
}

/// The body of a loop initializes a variable. Where the first state is
/// constant, so is the first condition, but not the second one: what was
/// unrolled is taken back.
TEST(TFLiteVariables, InitializationInALoop) {
  for (bool beginsConstant : {false, true}) {
    TFLiteControlModel model;
    int x = model.tensor("x", {2}, TensorType::FLOAT32);
    int begin = beginsConstant ? model.floats({3, -1}) : x;
    int y = model.tensor("y", {2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::WHILE, {begin}, {y},
             tflite::schema::CreateWhileOptions(model.fbb(), 1, 2));
    model.endSubgraph({x}, {y});
    int a = model.tensor("a", {2}, TensorType::FLOAT32);
    model.endSubgraph({a}, {model.isBelow(a, 100)}, "cond");
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    model.callOnce(3);
    int handle = model.handle("count");
    int n = model.add(model.read(handle, "old"), model.floats({1, 1}), "n");
    model.assign(handle, n);
    model.endSubgraph({a}, {model.add(a, n, "b")}, "body");
    model.assign(model.handle("count"), model.floats({5, 7}));
    model.endSubgraph({}, {}, "init");
    std::string bytes = model.finish();
    auto runs = runTFLiteEverywhere(bytes, {{{"x", {3, -1}}}, {{"x", {3, -1}}}},
                                    withMaxTripCount(20));
    double n0 = 5, n1 = 7;
    for (TFLiteRun &run : runs) {
      double a0 = 3, a1 = -1;
      while (std::max(a0, a1) < 100) {
        a0 += ++n0;
        a1 += ++n1;
      }
      EXPECT_EQ(run["y"], (Doubles{a0, a1}));
      EXPECT_EQ(run["count"], (Doubles{n0, n1}));
    }
  }
}

/// A branch assigns a variable that the other one only keeps.
TEST(TFLiteVariables, BranchesAssignVariables) {
  TFLiteControlModel model;
  int p = model.tensor("p", {}, TensorType::BOOL);
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  int handle = model.handle("sum");
  model.op(BuiltinOperator::IF, {p, handle, x}, {y},
           tflite::schema::CreateIfOptions(model.fbb(), 1, 2));
  int after = model.read(handle, "after");
  model.endSubgraph({p, x}, {y, after});
  int variable = model.tensor("variable", {}, TensorType::RESOURCE);
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int sum = model.add(model.read(variable, "old"), a, "sum");
  model.assign(variable, sum);
  model.endSubgraph({variable, a}, {sum}, "then");
  variable = model.tensor("variable", {}, TensorType::RESOURCE);
  a = model.tensor("a", {2}, TensorType::FLOAT32);
  model.endSubgraph({variable, a}, {a}, "else");
  auto runs =
      runTFLiteEverywhere(model.finish(), {{{"p", {1}}, {"x", {1, 2}}},
                                           {{"p", {0}}, {"x", {10, 20}}},
                                           {{"p", {1}}, {"x", {100, 200}}}});
  EXPECT_EQ(runs[0]["after"], (Doubles{1, 2}));
  EXPECT_EQ(runs[1]["y"], (Doubles{10, 20}));
  EXPECT_EQ(runs[1]["after"], (Doubles{1, 2}));
  EXPECT_EQ(runs[2]["y"], (Doubles{101, 202}));
  EXPECT_EQ(runs[2]["after"], (Doubles{101, 202}));
}

/// A loop whose body finds one variable by its name and gets another one.
TEST(TFLiteVariables, LoopsAssignVariables) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  int passed = model.tensor("passed", {}, TensorType::RESOURCE);
  int step = model.handle("step"), count = model.handle("count");
  model.assign(step, x);
  model.op(BuiltinOperator::WHILE, {x, step}, {y, passed},
           tflite::schema::CreateWhileOptions(model.fbb(), 1, 2));
  int total = model.read(count, "total"), steps = model.read(passed, "steps");
  model.endSubgraph({x}, {y, total, steps});
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int variable = model.tensor("variable", {}, TensorType::RESOURCE);
  model.endSubgraph({a, variable}, {model.isBelow(a, 100)}, "cond");
  a = model.tensor("a", {2}, TensorType::FLOAT32);
  variable = model.tensor("variable", {}, TensorType::RESOURCE);
  int own = model.handle("count");
  model.assign(own,
               model.add(model.read(own, "n"), model.floats({1, -1}), "m"));
  int next = model.add(a, model.read(variable, "s"), "next");
  model.assign(variable, next);
  model.endSubgraph({a, variable}, {next, variable}, "body");
  std::string bytes = model.finish();
  auto runs = runTFLiteEverywhere(bytes, {{{"x", {1, 2}}}, {{"x", {50, 0}}}},
                                  withMaxTripCount(20));
  // Both the state and the step become the sum.
  EXPECT_EQ(runs[0]["y"], (Doubles{64, 128}));
  EXPECT_EQ(runs[0]["steps"], (Doubles{64, 128}));
  EXPECT_EQ(runs[0]["total"], (Doubles{6, -6}));
  EXPECT_EQ(runs[1]["y"], (Doubles{100, 0}));
  EXPECT_EQ(runs[1]["total"], (Doubles{7, -7}));
}

/// All of it in one model, which the tests of malformed files change.
TEST(TFLiteVariables, ControlFlowWithVariables) {
  auto runs = runTFLiteEverywhere(makeControlFlow(),
                                  {{{"p", {1}}, {"x", {0, 0}}},
                                   {{"p", {0}}, {"x", {9, 0}}},
                                   {{"p", {1}}, {"x", {10, 0}}}},
                                  withMaxTripCount(4));
  // The variable is 1, 2 at first; three iterations add 2, 3, 4 and 3, 4, 5.
  EXPECT_EQ(runs[0]["z"], (Doubles{9 + 4, 12 + 5}));
  EXPECT_EQ(runs[0]["count"], (Doubles{4, 5}));
  EXPECT_EQ(runs[1]["z"], (Doubles{9 + 5 + 5, 6 + 6}));
  EXPECT_EQ(runs[1]["count"], (Doubles{19, 12}));
  EXPECT_EQ(runs[2]["z"], (Doubles{10 + 19, 12}));
}

/// The state of an SVDF in a subgraph that runs twice: one variable.
TEST(TFLiteVariables, VariableTensorsOfSubgraphs) {
  TFLiteModel model;
  int x = model.tensor("x", {1, 1}, TensorType::FLOAT32);
  int a = model.tensor("a", {1, 1}, TensorType::FLOAT32);
  int b = model.tensor("b", {1, 1}, TensorType::FLOAT32);
  for (int output : {a, b})
    model.op(BuiltinOperator::CALL, {x}, {output},
             tflite::schema::CreateCallOptions(model.fbb(), 1));
  model.endSubgraph({x}, {a, b});
  int in = model.tensor("in", {1, 1}, TensorType::FLOAT32);
  int features = model.tensor("features", {1, 1}, TensorType::FLOAT32, {},
                              getTFLiteBytes<float>({1}));
  int time = model.tensor("time", {1, 3}, TensorType::FLOAT32, {},
                          getTFLiteBytes<float>({1, 1, 1}));
  int state = model.tensor("state", {1, 3}, TensorType::FLOAT32, {}, {}, true);
  int out = model.tensor("out", {1, 1}, TensorType::FLOAT32);
  model.op(BuiltinOperator::SVDF, {in, features, time, -1, state}, {out},
           tflite::schema::CreateSVDFOptions(
               model.fbb(), 1, tflite::schema::ActivationFunctionType::NONE));
  model.endSubgraph({in}, {out}, "filter");
  auto runs =
      runTFLiteEverywhere(model.finish(), {{{"x", {1}}}, {{"x", {10}}}});
  EXPECT_EQ(runs[0]["a"], (Doubles{1}));
  EXPECT_EQ(runs[0]["b"], (Doubles{2}));
  EXPECT_EQ(runs[1]["a"], (Doubles{12}));
  EXPECT_EQ(runs[1]["b"], (Doubles{21}));
}

/// Integers are kept less their zero point, so that zeros stand for 0.
TEST(TFLiteVariables, QuantizedVariables) {
  auto make = [](TFLiteScales scales) {
    TFLiteControlModel model;
    int x = model.tensor("x", {2}, TensorType::INT8, {{0.5f}, {10}});
    int handle = model.handle("last");
    int y = model.read(handle, "y", scales, TensorType::INT8);
    model.assign(handle, x);
    return model.finish({x}, {y});
  };
  auto runs = runTFLiteEverywhere(make({{0.5f}, {10}}),
                                  {{{"x", {-128, 127}}}, {{"x", {0, 0}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{10, 10}));
  EXPECT_EQ(runs[1]["y"], (Doubles{-128, 127}));
  EXPECT_THAT(getTFLiteError(make({{0.5f}, {11}})),
              HasSubstr("(ASSIGN_VARIABLE): the variable 'last' has other "
                        "scales or zero points here; accepted: the same ones"));
}

TEST(TFLiteVariables, RefusesVariables) {
  TFLiteControlModel types;
  int x = types.tensor("x", {3}, TensorType::FLOAT32);
  int handle = types.handle("v");
  int y = types.read(handle, "y");
  types.assign(handle, x);
  EXPECT_THAT(getTFLiteError(types.finish({x}, {y})),
              HasSubstr("node '2' (ASSIGN_VARIABLE): the variable 'v' is "
                        "float<2> and here float<3>; accepted: one type"));
  TFLiteControlModel operands;
  x = operands.handle("v");
  y = operands.tensor("y", {2}, TensorType::FLOAT32);
  operands.op(BuiltinOperator::ABS, {x}, {y});
  EXPECT_THAT(getTFLiteError(operands.finish({}, {y})),
              HasSubstr("node 'y' (ABS): its input 0 ('handle') is a variable; "
                        "accepted: a tensor"));
  TFLiteControlModel tensors;
  x = tensors.tensor("x", {2}, TensorType::FLOAT32);
  y = tensors.read(x, "y");
  EXPECT_THAT(getTFLiteError(tensors.finish({x}, {y})),
              HasSubstr("node 'y' (READ_VARIABLE): input 0 ('x') is a tensor; "
                        "accepted: a variable"));
  TFLiteControlModel unset;
  x = unset.tensor("x", {}, TensorType::RESOURCE);
  y = unset.read(x, "y");
  EXPECT_THAT(
      getTFLiteError(unset.finish({}, {y})),
      HasSubstr("node 'y' (READ_VARIABLE): nothing computes its input 0 "
                "('x')"));
  TFLiteControlModel boundary;
  x = boundary.tensor("x", {}, TensorType::RESOURCE);
  EXPECT_THAT(getTFLiteError(boundary.finish({x}, {x})),
              HasSubstr("the input 'x' is a variable; accepted: tensors"));
  TFLiteControlModel written;
  x = written.tensor("x", {2}, TensorType::FLOAT32);
  written.op(BuiltinOperator::VAR_HANDLE, {}, {x});
  EXPECT_THAT(
      getTFLiteError(written.finish({}, {x})),
      HasSubstr("node 'x' (VAR_HANDLE): output 0 is a variable, and the "
                "file states a tensor"));
}
