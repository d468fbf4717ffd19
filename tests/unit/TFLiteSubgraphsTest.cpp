//===- TFLiteSubgraphsTest.cpp - Branches and loops -----------------------===//
//
// Models of several subgraphs on both back ends, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "TFLiteRuns.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using tflite::schema::BuiltinOperator;
using tflite::schema::TensorType;
using Doubles = std::vector<double>;

/// A subgraph with one operator of its only input and the constant
/// \p operand, both of \p extent elements.
static void addBinary(TFLiteModel &model, BuiltinOperator kind, float operand,
                      const char *name, int extent = 2,
                      TFLiteScales scales = {},
                      TensorType type = TensorType::FLOAT32) {
  int a = model.tensor("a", {extent}, type, scales);
  int c = model.tensor("c", {}, TensorType::FLOAT32, {},
                       getTFLiteBytes<float>({operand}));
  int b = model.tensor("b", {extent}, type, scales);
  model.op(kind, {a, c}, {b});
  model.endSubgraph({a}, {b}, name);
}

//===- IF and CALL --------------------------------------------------------===//

/// A main subgraph with IF of a condition and x, whose branches come then.
static void addIf(TFLiteModel &model, int thenIndex, int elseIndex,
                  int extent = 2, std::vector<uint8_t> condition = {}) {
  int p = model.tensor("p", {}, TensorType::BOOL, {}, condition);
  int x = model.tensor("x", {extent}, TensorType::FLOAT32);
  int y = model.tensor("y", {extent}, TensorType::FLOAT32);
  model.op(BuiltinOperator::IF, {p, x}, {y},
           tflite::schema::CreateIfOptions(model.fbb(), thenIndex, elseIndex));
  model.endSubgraph(
      condition.empty() ? std::vector<int>{p, x} : std::vector<int>{x}, {y});
}

static std::string makeIf(std::vector<uint8_t> condition = {}) {
  TFLiteModel model;
  addIf(model, 1, 2, 3, std::move(condition));
  addBinary(model, BuiltinOperator::ADD, 10, "then", 3);
  addBinary(model, BuiltinOperator::MUL, 2, "else", 3);
  return model.finish();
}

TEST(TFLiteSubgraphs, IfTakesOneBranch) {
  auto runs = runTFLiteEverywhere(makeIf(), {{{"p", {1}}, {"x", {1, 2, 3}}},
                                             {{"p", {0}}, {"x", {1, 2, 3}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{11, 12, 13}));
  EXPECT_EQ(runs[1]["y"], (Doubles{2, 4, 6}));
}

static unsigned countNodes(const std::string &bytes, NodeKind kind,
                           const ImportOptions &options = {}) {
  auto module = llvm::cantFail(importTFLiteBytes(bytes, options));
  return unsigned(
      llvm::count_if(module->findFunction("main")->getNodes(),
                     [&](Node &node) { return node.getKind() == kind; }));
}

TEST(TFLiteSubgraphs, ConstantConditionsLeaveNoBranch) {
  EXPECT_EQ(countNodes(makeIf(), NodeKind::If), 1u);
  EXPECT_EQ(countNodes(makeIf({0}), NodeKind::If), 0u);
  EXPECT_EQ(runTFLiteEverywhere(makeIf({0}), {{{"x", {1, 2, 3}}}})[0]["y"],
            (Doubles{2, 4, 6}));
  EXPECT_EQ(runTFLiteEverywhere(makeIf({7}), {{{"x", {1, 2, 3}}}})[0]["y"],
            (Doubles{11, 12, 13}));
}

/// CALL, and a subgraph that two operators use, once in a branch.
TEST(TFLiteSubgraphs, SubgraphsAreUsedTwice) {
  TFLiteModel model;
  int p = model.tensor("p", {}, TensorType::BOOL);
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::CALL, {x}, {a},
           tflite::schema::CreateCallOptions(model.fbb(), 1));
  model.op(BuiltinOperator::IF, {p, a}, {y},
           tflite::schema::CreateIfOptions(model.fbb(), 1, 2));
  model.endSubgraph({p, x}, {y});
  addBinary(model, BuiltinOperator::MUL, 3, "triple");
  addBinary(model, BuiltinOperator::SUB, 1, "less");
  auto runs =
      runTFLiteEverywhere(model.finish(), {{{"p", {1}}, {"x", {1, 2}}},
                                           {{"p", {0}}, {"x", {1, 2}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{9, 18}));
  EXPECT_EQ(runs[1]["y"], (Doubles{2, 5}));
}

/// Subgraphs whose shapes the file leaves open have those that are passed.
TEST(TFLiteSubgraphs, ShapesComeFromOutside) {
  TFLiteModel model;
  addIf(model, 1, 2, 5);
  addBinary(model, BuiltinOperator::ADD, 10, "then", 1);
  addBinary(model, BuiltinOperator::MUL, 2, "else", 1);
  EXPECT_EQ(runTFLiteEverywhere(model.finish(),
                                {{{"p", {0}}, {"x", {1, 2, 3, 4, 5}}}})[0]["y"],
            (Doubles{2, 4, 6, 8, 10}));
}

/// Integers cross the boundary as they are, if both sides have the same scale.
TEST(TFLiteSubgraphs, QuantizedTensors) {
  auto make = [](TFLiteScales inner) {
    TFLiteModel model;
    TFLiteScales scales{{0.5f}, {3}};
    int p = model.tensor("p", {1}, TensorType::BOOL);
    int x = model.tensor("x", {3}, TensorType::INT8, scales);
    int y = model.tensor("y", {3}, TensorType::INT8, scales);
    model.op(BuiltinOperator::IF, {p, x}, {y},
             tflite::schema::CreateIfOptions(model.fbb(), 1, 2));
    model.endSubgraph({p, x}, {y});
    int a = model.tensor("a", {3}, TensorType::INT8, inner);
    int b = model.tensor("b", {3}, TensorType::INT8, scales);
    model.op(BuiltinOperator::RELU, {a}, {b});
    model.endSubgraph({a}, {b}, "then");
    a = model.tensor("a", {3}, TensorType::INT8, scales);
    model.endSubgraph({a}, {a}, "else");
    return model.finish();
  };
  auto runs = runTFLiteEverywhere(
      make({{0.5f}, {3}}),
      {{{"p", {1}}, {"x", {-7, 3, 17}}}, {{"p", {0}}, {"x", {-7, 3, 17}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{3, 3, 17}));
  EXPECT_EQ(runs[1]["y"], (Doubles{-7, 3, 17}));
  EXPECT_THAT(getTFLiteError(make({{0.25f}, {3}})),
              HasSubstr("node 'y' (IF): subgraph 1 ('then'): its input 0 ('a') "
                        "has other scales or zero points than what is passed; "
                        "accepted: the same ones"));
}

TEST(TFLiteSubgraphs, RefusesBranches) {
  auto makeBranches = [](int thenIndex, int elseIndex) {
    TFLiteModel model;
    addIf(model, thenIndex, elseIndex);
    addBinary(model, BuiltinOperator::ADD, 10, "then");
    int a = model.tensor("a", {2}, TensorType::FLOAT32);
    int b = model.tensor("b", {4}, TensorType::FLOAT32);
    model.op(BuiltinOperator::CONCATENATION, {a, a}, {b});
    model.endSubgraph({a}, {b}, "wide");
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    b = model.tensor("b", {2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::CALL, {a}, {b},
             tflite::schema::CreateCallOptions(model.fbb(), 4));
    model.endSubgraph({a}, {b}, "first");
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    b = model.tensor("b", {2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::CALL, {a}, {b},
             tflite::schema::CreateCallOptions(model.fbb(), 3));
    model.endSubgraph({a}, {b}, "second");
    a = model.tensor("a", {2}, TensorType::INT32);
    model.endSubgraph({a}, {a}, "integers");
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    model.endSubgraph({a}, {a, a}, "two");
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    b = model.tensor("b", {2}, TensorType::FLOAT32);
    model.endSubgraph({a, b}, {a}, "sum");
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    b = model.tensor("b", {2}, TensorType::FLOAT32);
    model.endSubgraph({a}, {b}, "nothing");
    return getTFLiteError(model.finish());
  };
  EXPECT_THAT(makeBranches(1, 77),
              HasSubstr("node 'y' (IF): it runs subgraph 77; the file has 9"));
  EXPECT_THAT(makeBranches(-1, 1),
              HasSubstr("node 'y' (IF): it runs subgraph -1; the file has 9"));
  EXPECT_THAT(makeBranches(1, 0),
              HasSubstr("node 'y' (IF): it runs subgraph 0 ('main'), which "
                        "contains it; accepted: subgraphs without recursion"));
  EXPECT_THAT(
      makeBranches(3, 1),
      HasSubstr("node 'y' (IF): subgraph 4 ('second'): node 'b' (CALL): it "
                "runs subgraph 3 ('first'), which contains it"));
  EXPECT_THAT(makeBranches(1, 2),
              HasSubstr("node 'y' (IF): output 0 is float<2> in one subgraph "
                        "and float<4> in the other; accepted: one type, or a "
                        "constant condition"));
  EXPECT_THAT(makeBranches(5, 1),
              HasSubstr("node 'y' (IF): subgraph 5 ('integers'): its input 0 "
                        "('a') is int32<2>, and float<2> is passed; accepted: "
                        "the same kind"));
  EXPECT_THAT(makeBranches(6, 6),
              HasSubstr("node 'y' (IF): it has 1 outputs, and its subgraph 2"));
  EXPECT_THAT(makeBranches(1, 6),
              HasSubstr("node 'y' (IF): the subgraphs have 1 and 2 outputs"));
  EXPECT_THAT(makeBranches(7, 1),
              HasSubstr("node 'y' (IF): subgraph 7 ('sum'): it has 2 inputs; "
                        "accepted: 1"));
  EXPECT_THAT(makeBranches(8, 1),
              HasSubstr("node 'y' (IF): subgraph 8 ('nothing'): nothing "
                        "computes its output 0 ('b')"));
}

TEST(TFLiteSubgraphs, RefusesOperatorsWithoutOptions) {
  auto getError = [](BuiltinOperator kind, bool hasInput) {
    TFLiteModel model;
    int p = model.tensor("p", {}, TensorType::BOOL);
    int y = model.tensor("y", {}, TensorType::BOOL);
    model.op(kind, hasInput ? std::vector<int>{p} : std::vector<int>{}, {y});
    model.endSubgraph({p}, {y});
    return getTFLiteError(model.finish());
  };
  EXPECT_THAT(getError(BuiltinOperator::IF, true),
              HasSubstr("node 'y' (IF): it has no IfOptions"));
  EXPECT_THAT(getError(BuiltinOperator::IF, false),
              HasSubstr("node 'y' (IF): it has 0 inputs; accepted: 1 or more"));
  EXPECT_THAT(getError(BuiltinOperator::WHILE, true),
              HasSubstr("node 'y' (WHILE): it has no WhileOptions"));
  EXPECT_THAT(getError(BuiltinOperator::CALL, true),
              HasSubstr("node 'y' (CALL): it has no CallOptions"));
  EXPECT_THAT(getError(BuiltinOperator::CALL_ONCE, false),
              HasSubstr("node 'y' (CALL_ONCE): it has no CallOnceOptions"));
  EXPECT_THAT(getError(BuiltinOperator::CALL_ONCE, true),
              HasSubstr("node 'y' (CALL_ONCE): it has 1 inputs; accepted: 0"));
}

TEST(TFLiteSubgraphs, ListsUnsupportedOperatorsOfSubgraphs) {
  TFLiteModel model;
  addIf(model, 1, 1);
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int b = model.tensor("b", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::LSH_PROJECTION, {a}, {b});
  model.endSubgraph({a}, {b}, "then");
  // Nothing runs this one.
  a = model.tensor("a", {2}, TensorType::FLOAT32);
  b = model.tensor("c", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::SKIP_GRAM, {a}, {b});
  model.endSubgraph({a}, {b}, "other");
  std::string error = getTFLiteError(model.finish());
  EXPECT_THAT(error, HasSubstr("node 'b' (LSH_PROJECTION)"));
  EXPECT_THAT(error, Not(HasSubstr("SKIP_GRAM")));
}

/// Each subgraph runs the next one twice, which would take 2^40 copies.
TEST(TFLiteSubgraphs, LimitsWhatSubgraphsMake) {
  TFLiteModel model;
  for (int i = 0; i < 40; ++i) {
    int a = model.tensor("a", {2}, TensorType::FLOAT32);
    int b = model.tensor("b", {2}, TensorType::FLOAT32);
    int c = model.tensor("c", {2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::CALL, {a}, {b},
             tflite::schema::CreateCallOptions(model.fbb(), uint32_t(i) + 1));
    model.op(BuiltinOperator::CALL, {b}, {c},
             tflite::schema::CreateCallOptions(model.fbb(), uint32_t(i) + 1));
    model.endSubgraph({a}, {c});
  }
  addBinary(model, BuiltinOperator::ADD, 1, "last");
  EXPECT_THAT(getTFLiteError(model.finish()),
              HasSubstr("inlined, the subgraphs of the model make too many"));
  TFLiteModel deep;
  for (int i = 0; i < 100; ++i) {
    int a = deep.tensor("a", {2}, TensorType::FLOAT32);
    int b = deep.tensor("b", {2}, TensorType::FLOAT32);
    deep.op(BuiltinOperator::CALL, {a}, {b},
            tflite::schema::CreateCallOptions(deep.fbb(), uint32_t(i) + 1));
    deep.endSubgraph({a}, {b});
  }
  addBinary(deep, BuiltinOperator::ADD, 1, "last");
  EXPECT_THAT(getTFLiteError(deep.finish()),
              HasSubstr("subgraphs are nested more than 64 deep"));
}

//===- STABLEHLO_COMPOSITE ------------------------------------------------===//

/// A composite of subgraph \p subgraph, which is 1 of 2 or missing; subgraph 1
/// has a composite of \p inner, and 2 an operator.
static std::string makeComposite(int subgraph, int inner = 2) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.composite("odml.triple", subgraph, {x}, {y});
  model.endSubgraph({x}, {y});
  x = model.tensor("a", {2}, TensorType::FLOAT32);
  y = model.tensor("b", {2}, TensorType::FLOAT32);
  int sum = model.tensor("sum", {2}, TensorType::FLOAT32);
  model.composite("odml.double", inner, {x}, {y});
  model.op(BuiltinOperator::ADD, {x, y}, {sum});
  model.endSubgraph({x}, {sum}, "odml.triple.impl");
  addBinary(model, BuiltinOperator::MUL, 2, "odml.double.impl");
  return model.finish();
}

TEST(TFLiteSubgraphs, CompositesAreTheirDecompositions) {
  auto runs = runTFLiteEverywhere(makeComposite(1), {{{"x", {1, -2.5}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{3, -7.5}));
  EXPECT_EQ(countNodes(makeComposite(1), NodeKind::Mul), 1u);
  EXPECT_THAT(getTFLiteError(makeComposite(7)),
              HasSubstr("node 'y' (STABLEHLO_COMPOSITE): it runs subgraph 7; "
                        "the file has 3"));
  EXPECT_THAT(getTFLiteError(makeComposite(-1)),
              HasSubstr("it runs subgraph -1; the file has 3"));
  EXPECT_THAT(getTFLiteError(makeComposite(1, 1)),
              HasSubstr("which contains it; accepted: subgraphs without "
                        "recursion"));
  // It is only the decomposition that says what it computes.
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::STABLEHLO_COMPOSITE, {x}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("node 'y' (STABLEHLO_COMPOSITE): it has no "
                        "StableHLOCompositeOptions"));
}

/// Operators of decompositions that are not supported are told, too.
TEST(TFLiteSubgraphs, CompositesListUnsupportedOperators) {
  TFLiteModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", {2}, TensorType::FLOAT32);
  model.composite("odml.hash", 1, {x}, {y});
  model.endSubgraph({x}, {y});
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  int b = model.tensor("b", {2}, TensorType::FLOAT32);
  model.op(BuiltinOperator::LSH_PROJECTION, {a}, {b});
  model.endSubgraph({a}, {b}, "impl");
  EXPECT_THAT(getTFLiteError(model.finish()),
              HasSubstr("node 'b' (LSH_PROJECTION)"));
}

//===- WHILE --------------------------------------------------------------===//

/// Doubles y = x while its number of iterations is less than \p trips, a
/// constant, or the input n. Each iteration also adds the state "step", which
/// stays what it is.
static std::string makeWhile(std::optional<int32_t> trips) {
  TFLiteModel model;
  int n = model.tensor("n", {}, TensorType::INT32, {},
                       trips ? getTFLiteBytes<int32_t>({*trips})
                             : std::vector<uint8_t>());
  int x = model.tensor("x", {3}, TensorType::FLOAT32);
  int zero = model.tensor("zero", {}, TensorType::INT32, {},
                          getTFLiteBytes<int32_t>({0}));
  int step = model.tensor("step", {3}, TensorType::FLOAT32, {},
                          getTFLiteBytes<float>({1, 0, -1}));
  int count = model.tensor("count", {}, TensorType::INT32);
  int y = model.tensor("y", {3}, TensorType::FLOAT32);
  int end = model.tensor("end", {}, TensorType::INT32);
  int same = model.tensor("same", {3}, TensorType::FLOAT32);
  model.op(BuiltinOperator::WHILE, {zero, x, n, step}, {count, y, end, same},
           tflite::schema::CreateWhileOptions(model.fbb(), 1, 2));
  model.endSubgraph(trips ? std::vector<int>{x} : std::vector<int>{n, x},
                    {count, y, same});
  auto addStates = [&] {
    return std::vector<int>{model.tensor("i", {}, TensorType::INT32),
                            model.tensor("v", {3}, TensorType::FLOAT32),
                            model.tensor("n", {}, TensorType::INT32),
                            model.tensor("s", {3}, TensorType::FLOAT32)};
  };
  std::vector<int> states = addStates();
  int less = model.tensor("less", {}, TensorType::BOOL);
  model.op(BuiltinOperator::LESS, {states[0], states[2]}, {less});
  model.endSubgraph(states, {less}, "cond");
  states = addStates();
  int one = model.tensor("one", {}, TensorType::INT32, {},
                         getTFLiteBytes<int32_t>({1}));
  int next = model.tensor("next", {}, TensorType::INT32);
  int twice = model.tensor("twice", {3}, TensorType::FLOAT32);
  int sum = model.tensor("sum", {3}, TensorType::FLOAT32);
  model.op(BuiltinOperator::ADD, {states[0], one}, {next});
  model.op(BuiltinOperator::ADD, {states[1], states[1]}, {twice});
  model.op(BuiltinOperator::ADD, {twice, states[3]}, {sum});
  model.endSubgraph(states, {next, sum, states[2], states[3]}, "body");
  return model.finish();
}

TEST(TFLiteSubgraphs, WhileRunsAsOftenAsItsConditionSays) {
  ImportOptions options = withMaxTripCount(5);
  EXPECT_EQ(countNodes(makeWhile({}), NodeKind::Loop, options), 1u);
  auto runs = runTFLiteEverywhere(makeWhile({}),
                                  {{{"n", {0}}, {"x", {1, 2, 3}}},
                                   {{"n", {1}}, {"x", {1, 2, 3}}},
                                   {{"n", {5}}, {"x", {1, 2, 3}}}},
                                  options);
  EXPECT_EQ(runs[0]["y"], (Doubles{1, 2, 3}));
  EXPECT_EQ(runs[1]["y"], (Doubles{3, 4, 5}));
  EXPECT_EQ(runs[2]["y"], (Doubles{63, 64, 65}));
  EXPECT_EQ(runs[2]["count"], (Doubles{5}));
  EXPECT_EQ(runs[2]["same"], (Doubles{1, 0, -1}));
  EXPECT_THAT(
      getTFLiteError(makeWhile({})),
      HasSubstr("node 'count' (WHILE): the loop has no bound; accepted: "
                "constant conditions for few iterations, or "
                "«max-trip-count=N»"));
  auto tooMany = runTFLite(*createInterpreter(), makeWhile({}),
                           {{{"n", {6}}, {"x", {1, 2, 3}}}}, options);
  ASSERT_FALSE(bool(tooMany));
  EXPECT_THAT(llvm::toString(tooMany.takeError()),
              HasSubstr("node 'count' (WHILE): the loop has more than the 5 "
                        "iterations that it was compiled for"));
}

/// Few iterations with constant conditions need no bound.
TEST(TFLiteSubgraphs, ConstantLoopsAreUnrolled) {
  for (int trips : {0, 1, 5}) {
    EXPECT_EQ(countNodes(makeWhile(trips), NodeKind::Loop), 0u);
    double scale = 1 << trips;
    EXPECT_EQ(
        runTFLiteEverywhere(makeWhile(trips), {{{"x", {1, 2, 3}}}})[0]["y"],
        (Doubles{2 * scale - 1, 2 * scale, 2 * scale + 1}));
  }
  // Many are a loop.
  EXPECT_THAT(getTFLiteError(makeWhile(1000)), HasSubstr("«max-trip-count=N»"));
  EXPECT_EQ(countNodes(makeWhile(1000), NodeKind::Loop, withMaxTripCount(1000)),
            1u);
}

/// A loop whose body \p addBody adds, with one state of two floats, while both
/// are less than 100.
static std::string
makeSmallWhile(llvm::function_ref<void(TFLiteModel &)> addBody,
               std::vector<int32_t> shape = {2}) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, TensorType::FLOAT32);
  int y = model.tensor("y", shape, TensorType::FLOAT32);
  model.op(BuiltinOperator::WHILE, {x}, {y},
           tflite::schema::CreateWhileOptions(model.fbb(), 1, 2));
  model.endSubgraph({x}, {y});
  int a = model.tensor("a", {2}, TensorType::FLOAT32);
  model.endSubgraph({a}, {model.isBelow(a, 100)}, "cond");
  addBody(model);
  return model.finish();
}

TEST(TFLiteSubgraphs, RefusesLoops) {
  auto getError = [](llvm::function_ref<void(TFLiteModel &)> addBody) {
    return getTFLiteError(makeSmallWhile(addBody), withMaxTripCount(8));
  };
  EXPECT_THAT(getError([](TFLiteModel &model) {
                int a = model.tensor("a", {2}, TensorType::FLOAT32);
                int b = model.tensor("b", {4}, TensorType::FLOAT32);
                model.op(BuiltinOperator::CONCATENATION, {a, a}, {b});
                model.endSubgraph({a}, {b}, "grow");
              }),
              HasSubstr("node 'y' (WHILE): state 0 is float<2> at first and "
                        "then float<4>; accepted: one type"));
  EXPECT_THAT(getError([](TFLiteModel &model) {
                int a = model.tensor("a", {2}, TensorType::FLOAT32);
                model.endSubgraph({a}, {a, a}, "two");
              }),
              HasSubstr("node 'y' (WHILE): subgraph 2 ('two') has 2 outputs; "
                        "accepted: 1, as many as inputs"));
  EXPECT_THAT(getError([](TFLiteModel &model) {
                int a = model.tensor("a", {2}, TensorType::FLOAT32);
                int b = model.tensor("b", {2}, TensorType::FLOAT32);
                model.endSubgraph({a, b}, {a, b}, "sum");
              }),
              HasSubstr("node 'y' (WHILE): subgraph 2 ('sum'): it has 2 "
                        "inputs; accepted: 1"));
  EXPECT_THAT(getError([](TFLiteModel &model) {
                int a = model.tensor("a", {2}, TensorType::FLOAT32);
                int b = model.tensor("b", {2}, TensorType::FLOAT32);
                model.op(BuiltinOperator::WHILE, {a}, {b},
                         tflite::schema::CreateWhileOptions(model.fbb(), 1, 2));
                model.endSubgraph({a}, {b}, "again");
              }),
              HasSubstr("it runs subgraph 2 ('again'), which contains it"));
  EXPECT_THAT(
      getError([](TFLiteModel &) {}),
      HasSubstr("node 'y' (WHILE): it runs subgraph 2; the file has 2"));
}

/// A loop in a loop, and a branch in that.
TEST(TFLiteSubgraphs, LoopsInLoops) {
  std::string bytes = makeSmallWhile([](TFLiteModel &model) {
    int a = model.tensor("a", {2}, TensorType::FLOAT32);
    int b = model.tensor("b", {2}, TensorType::FLOAT32);
    int one = model.tensor("one", {}, TensorType::FLOAT32, {},
                           getTFLiteBytes<float>({1}));
    int c = model.tensor("c", {2}, TensorType::FLOAT32);
    model.op(BuiltinOperator::ADD, {a, one}, {b});
    model.op(BuiltinOperator::WHILE, {b}, {c},
             tflite::schema::CreateWhileOptions(model.fbb(), 3, 4));
    model.endSubgraph({a}, {c}, "body");
    // While the sum is less than 50.
    a = model.tensor("a", {2}, TensorType::FLOAT32);
    int axis = model.tensor("axis", {1}, TensorType::INT32, {},
                            getTFLiteBytes<int32_t>({0}));
    int limit = model.tensor("limit", {}, TensorType::FLOAT32, {},
                             getTFLiteBytes<float>({50}));
    int sum = model.tensor("sum", {}, TensorType::FLOAT32);
    int less = model.tensor("less", {}, TensorType::BOOL);
    model.op(BuiltinOperator::SUM, {a, axis}, {sum});
    model.op(BuiltinOperator::LESS, {sum, limit}, {less});
    model.endSubgraph({a}, {less}, "inner cond");
    addBinary(model, BuiltinOperator::ADD, 7, "inner body");
  });
  auto compute = [](double a, double b) {
    while (std::max(a, b) < 100) {
      a += 1;
      b += 1;
      while (a + b < 50) {
        a += 7;
        b += 7;
      }
    }
    return Doubles{a, b};
  };
  auto runs = runTFLiteEverywhere(
      bytes, {{{"x", {1, 2}}}, {{"x", {60, -3}}}, {{"x", {100, 5}}}},
      withMaxTripCount(200));
  EXPECT_EQ(runs[0]["y"], compute(1, 2));
  EXPECT_EQ(runs[1]["y"], compute(60, -3));
  EXPECT_EQ(runs[2]["y"], compute(100, 5));
}
