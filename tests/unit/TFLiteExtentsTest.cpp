//===- TFLiteExtentsTest.cpp - TensorFlow Lite models of open dimensions -===//

#include "TFLiteExtents.h"

using namespace glowish;
using namespace glowish::tfliteextents;

//===- Elements -----------------------------------------------------------===//

TEST(TFLiteExtents, ElementWise) {
  for (BuiltinOperator kind :
       {BuiltinOperator::ABS, BuiltinOperator::LOGISTIC, BuiltinOperator::EXP,
        BuiltinOperator::RELU6, BuiltinOperator::HARD_SWISH,
        BuiltinOperator::ELU, BuiltinOperator::GELU, BuiltinOperator::SQUARE,
        BuiltinOperator::ZEROS_LIKE, BuiltinOperator::LEAKY_RELU,
        BuiltinOperator::LOG_SOFTMAX, BuiltinOperator::L2_NORMALIZATION})
    check(unary(kind, "6{N}x4{M}x5"));
  // Along the dimension that they read.
  check(unary(BuiltinOperator::LOG_SOFTMAX, "3x6{N}"));
  check(unary(BuiltinOperator::L2_NORMALIZATION, "3x6{N}"));
  check(unary(BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, "4{M}x2x3x6{N}"));
}

TEST(TFLiteExtents, TwoOperands) {
  for (BuiltinOperator kind :
       {BuiltinOperator::ADD, BuiltinOperator::SUB, BuiltinOperator::MUL,
        BuiltinOperator::MAXIMUM, BuiltinOperator::SQUARED_DIFFERENCE,
        BuiltinOperator::FLOOR_MOD, BuiltinOperator::ADD_N}) {
    Builder model;
    int x = model.input("x", "6{N}x4{M}x5"),
        y = model.input("y", "6{N}x4{M}x5");
    if (kind == BuiltinOperator::FLOOR_MOD)
      y = model.weights({5});
    model.op(kind, {x, y}, {model.result()});
    check(model.end());
  }
  for (TensorType type : {i8, u8, i16})
    for (BuiltinOperator kind : {BuiltinOperator::ADD, BuiltinOperator::SUB,
                                 BuiltinOperator::MUL, BuiltinOperator::LESS}) {
      int64_t zero = type == i16 ? 0 : 3;
      Builder model;
      int x = model.input("x", "6{N}x1x5", type, {{0.05f}, {zero}});
      int y = model.input("y", "4{M}x1", type, {{0.02f}, {zero}});
      model.op(kind, {x, y},
               {kind == BuiltinOperator::LESS
                    ? model.result(TensorType::BOOL)
                    : model.result(type, {{0.07f}, {zero}})});
      check(model.end());
    }
  // Of 6 rows, which would be broadcast where N is 1.
  auto multiply = [](BuiltinOperator kind, const std::string &other) {
    Builder model;
    int x = model.input("x", "6{N}x4x4"), y = model.input("y", other);
    model.op(kind, {x, y}, {model.result()});
    return model.end();
  };
  for (BuiltinOperator kind :
       {BuiltinOperator::MUL, BuiltinOperator::BATCH_MATMUL}) {
    EXPECT_THAT(refuse(multiply(kind, "6x4x4")),
                HasSubstr("input 1 ('y') is float<6x4x4>; accepted: N or 1 in "
                          "dimension 0, as in input 0"));
    check(multiply(kind, "1x4x4"));
    check(multiply(kind, "4x4"));
  }
  Builder model;
  int c = model.input("c", "6{N}", TensorType::BOOL);
  int x = model.input("x", "6{N}x4{M}"), y = model.input("y", "6{N}x4{M}");
  model.op(BuiltinOperator::SELECT, {c, x, y}, {model.result()});
  check(model.end());
}

TEST(TFLiteExtents, Quantized) {
  TFLiteScales scales{{0.05f}, {3}};
  for (BuiltinOperator kind :
       {BuiltinOperator::LOGISTIC, BuiltinOperator::HARD_SWISH,
        BuiltinOperator::RELU6, BuiltinOperator::LEAKY_RELU,
        BuiltinOperator::QUANTIZE})
    for (TensorType type : {i8, u8}) {
      check(unary(kind, "6{N}x4{M}x5", {}, {}, 1, type, scales, type));
      check(unary(kind, "2x6{N}", {}, {}, 1, type, scales, type));
    }
  for (TensorType type : {f32, i8, u8})
    for (const char *dims : {"6{N}x4{M}x5", "2x6{N}"})
      check(unary<schema::SoftmaxOptions>(
          BuiltinOperator::SOFTMAX, dims, {},
          [](Builder &b) { return schema::CreateSoftmaxOptions(b.fbb(), 1); },
          1, type, type == f32 ? TFLiteScales{} : scales, type));
  check(unary(BuiltinOperator::DEQUANTIZE, "6{N}x5", {}, {}, 1, i8, scales));
  Builder model;
  int x = model.input("x", "6{N}x5");
  model.op(BuiltinOperator::QUANTIZE, {x}, {model.result(i8, {{0.02f}, {5}})});
  check(model.end());
  check(unary<schema::CastOptions>(BuiltinOperator::CAST, "6{N}x5", {}, {}, 1,
                                   i32, {}, f32));
}

//===- Reductions ---------------------------------------------------------===//

static OpenModel reduce(BuiltinOperator kind, const std::string &dims,
                        std::vector<int32_t> axes, bool keepDims = false,
                        TensorType type = f32, TFLiteScales scales = {}) {
  return unary<schema::ReducerOptions>(
      kind, dims, {std::move(axes)},
      [&](Builder &b) {
        return schema::CreateReducerOptions(b.fbb(), keepDims);
      },
      1, type, scales, type);
}

TEST(TFLiteExtents, Reductions) {
  for (BuiltinOperator kind :
       {BuiltinOperator::MEAN, BuiltinOperator::SUM,
        BuiltinOperator::REDUCE_PROD, BuiltinOperator::REDUCE_MAX,
        BuiltinOperator::REDUCE_MIN}) {
    check(reduce(kind, "6{N}x4{M}x3", {1}));
    check(reduce(kind, "6{N}x4{M}x3", {0, 1}, /*keepDims=*/true));
    check(reduce(kind, "6{N}x4{M}x3", {-1}));
  }
  for (TensorType type : {i8, u8}) {
    TFLiteScales scales{{0.05f}, {3}};
    check(
        reduce(BuiltinOperator::MEAN, "6{N}x4x3", {1, 2}, true, type, scales));
    check(reduce(BuiltinOperator::SUM, "6{N}x4{M}x3", {1}, true, type, scales));
    check(reduce(BuiltinOperator::REDUCE_MAX, "6{N}x4{M}x3", {1}, true, type,
                 scales));
    EXPECT_THAT(refuse(reduce(BuiltinOperator::MEAN, "6{N}x4x3", {0, 2}, true,
                              type, scales)),
                HasSubstr("node 'y' (MEAN): input 0 ('x') is"));
  }
  for (BuiltinOperator kind :
       {BuiltinOperator::REDUCE_ANY, BuiltinOperator::REDUCE_ALL})
    check(reduce(kind, "6{N}x4{M}x3", {1}, false, TensorType::BOOL));
  for (BuiltinOperator kind :
       {BuiltinOperator::ARG_MAX, BuiltinOperator::ARG_MIN})
    for (int32_t axis : {0, 1, -1})
      check(unary(kind, "6{N}x4{M}x3", {{axis}}, {}, 1, f32, {}, i32));
  for (bool reverse : {false, true})
    for (int32_t axis : {0, 1})
      check(unary<schema::CumsumOptions>(
          BuiltinOperator::CUMSUM, "6{N}x4{M}", {{axis}}, [&](Builder &b) {
            return schema::CreateCumsumOptions(b.fbb(), reverse, reverse);
          }));
}

//===- Matrices -----------------------------------------------------------===//

static OpenModel connect(const std::string &dims, int columns, bool keepsDims,
                         TensorType type = f32) {
  Builder model;
  auto scaled = [&](float scale, int64_t zero) {
    return type == f32 ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
  };
  int x = model.input("x", dims, type, scaled(0.05f, type == i16 ? 0 : 3));
  int w = model.weights({3, columns}, type == f32 ? f32 : i8, scaled(0.01f, 0));
  model.op(BuiltinOperator::FULLY_CONNECTED, {x, w, -1},
           {model.result(type, scaled(0.2f, type == i16 ? 0 : 5))},
           schema::CreateFullyConnectedOptions(
               model.fbb(), ActivationFunctionType::RELU,
               schema::FullyConnectedOptionsWeightsFormat::DEFAULT, keepsDims));
  return model.end();
}

TEST(TFLiteExtents, FullyConnected) {
  for (TensorType type : {f32, i8, i16}) {
    check(connect("6{N}x4", 4, false, type));
    check(connect("6{N}x2x2x4", 16, false, type));
    check(connect("1x6{N}x4", 4, false, type));
    check(connect("6{N}x4{M}x4", 4, false, type));
    check(connect("6{N}x4{M}x4", 4, true, type));
    check(connect("2x4{M}x4", 4, true, type));
  }
  check(connect("2x6{N}", 6, false), /*atLeast=*/1, /*divisor=*/3);
}

/// Weights that are an input, and of which a run decides an extent.
TEST(TFLiteExtents, FullyConnectedOpenWeights) {
  auto connectOpen = [](const std::string &dims, const std::string &weights,
                        bool keepsDims, TensorType type) {
    bool isFloat = type == f32;
    auto scaled = [&](float scale) {
      return isFloat ? TFLiteScales{} : TFLiteScales{{scale}, {0}};
    };
    Builder model;
    int x = model.input("x", dims, type, scaled(0.05f));
    int w = model.input("w", weights, type, scaled(0.01f));
    model.op(BuiltinOperator::FULLY_CONNECTED, {x, w, -1},
             {model.result(type, scaled(0.2f))},
             schema::CreateFullyConnectedOptions(
                 model.fbb(), ActivationFunctionType::NONE,
                 schema::FullyConnectedOptionsWeightsFormat::DEFAULT,
                 keepsDims));
    return model.end();
  };
  for (TensorType type : {f32, i8})
    for (bool keepsDims : {false, true}) {
      check(connectOpen("6{N}x4{M}", "3x4{M}", keepsDims, type));
      check(connectOpen("4{M}x4{M}", "3x4{M}", keepsDims, type));
      check(connectOpen("2x6{N}x4{M}", "3x4{M}", keepsDims, type));
      check(connectOpen("6{N}x5", "4{M}x5", keepsDims, type));
    }
}

TEST(TFLiteExtents, BatchMatMul) {
  for (TensorType type : {f32, i8})
    for (bool isTransposed : {false, true}) {
      auto scaled = [&](float scale, int64_t zero) {
        return type == f32 ? TFLiteScales{} : TFLiteScales{{scale}, {zero}};
      };
      auto make = [&](const std::string &left, const std::string &right) {
        Builder model;
        int x = model.input("x", left, type, scaled(0.05f, 3));
        int y = model.input("y", right, type, scaled(0.02f, -4));
        model.op(
            BuiltinOperator::BATCH_MATMUL, {x, y},
            {model.result(type, scaled(0.2f, 5))},
            schema::CreateBatchMatMulOptions(model.fbb(), false, isTransposed));
        return model.end();
      };
      check(make("6{N}x3x4", isTransposed ? "6{N}x5x4" : "6{N}x4x5"));
      check(make("2x6{N}x3", isTransposed ? "2x4{M}x3" : "2x3x4{M}"));
      // Along the depth.
      check(make("4{M}x2x6{N}", isTransposed ? "4{M}x3x6{N}" : "4{M}x6{N}x3"));
    }
}

//===- Inputs, outputs, subgraphs -----------------------------------------===//

TEST(TFLiteExtents, SymbolsAndOutputs) {
  OpenModel model = unary(BuiltinOperator::ABS, "6{N}x3");
  auto module = importTFLiteBytes(model.bytes, getOptions(model, nullptr));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  ASSERT_TRUE((*module)->findStated("N"));
  ASSERT_TRUE((*module)->findPlaceholder("y.extents"));
  EXPECT_EQ((*module)->findPlaceholder("x")->getType().str(), "float<6{N}x3>");
  ImportOptions options;
  options.symbolRanges["batch"] = {1, 4};
  EXPECT_THAT(
      getTFLiteError(model.bytes, options),
      HasSubstr("no dimension of an input is 'batch', for which "
                "«define-symbol» (or «train-define-symbol») gives 1..4; "
                "accepted: symbols in the types that "
                "«model-input=NAME,TYPE,[batch,...]» states"));
  options.symbolRanges.clear();
  options.symbols["batch"] = 4;
  EXPECT_THAT(getTFLiteError(model.bytes, options),
              HasSubstr("no dimension of an input is 'batch', for which "
                        "«define-symbol» (or «train-define-symbol») gives 4; "
                        "accepted: symbols in the types that "
                        "«model-input=NAME,TYPE,[batch,...]» states"));
}

TEST(TFLiteExtents, AnInputWithTheNameOfASymbol) {
  Builder model;
  int x = model.input("N", "6{N}x3");
  model.op(BuiltinOperator::ADD, {x, x}, {model.result()});
  check(model.end());
}

TEST(TFLiteExtents, FloatInputsAndOutputs) {
  OpenModel model = unary(BuiltinOperator::LOGISTIC, "6{N}x3", {}, {}, 1, i8,
                          {{0.05f}, {3}}, i8);
  auto format = std::make_shared<TFLiteOptions>();
  format->hasFloatInputs = format->hasFloatOutputs = true;
  model.inputs["x"] = "float<6{N}x3>";
  model.format = format;
  check(model);
}

TEST(TFLiteExtents, RunsThatDontFit) {
  OpenModel model = reshape("6{N}x2", {-1, 4});
  llvm::Expected<Program> program = compile(model, nullptr, false);
  ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
  auto set = [&](const char *name, Tensor tensor) {
    return getMessage(
        program->session->setInput(program->find(name), std::move(tensor)));
  };
  Tensor extent(Type(ElemKind::Int64, {}));
  extent.setFromDouble(0, 3);
  EXPECT_EQ(set("N", extent.clone()), "");
  EXPECT_EQ(set("x", Tensor(Type(ElemKind::Float, {3, 2}))), "");
  // 6 elements are no rows of 4.
  EXPECT_NE(getMessage(program->session->run()), "");
  EXPECT_THAT(set("x", Tensor(Type(ElemKind::Float, {7, 2}))),
              HasSubstr("dimension 0 is N, which is 1 to 6"));
}

/// y = x + x by a subgraph, which \p kind runs.
static OpenModel callSubgraph(BuiltinOperator kind, bool isConstant) {
  Builder model;
  int x = model.input("x", "6{N}x3");
  int condition =
      isConstant ? model.tensor("c", {}, TensorType::BOOL, {}, {1}) : 0;
  if (kind == BuiltinOperator::IF && !isConstant)
    condition = model.tensor("c", {}, TensorType::BOOL);
  int y = model.tensor("y", {1, 3}, f32);
  if (kind == BuiltinOperator::CALL)
    model.op(kind, {x}, {y}, schema::CreateCallOptions(model.fbb(), 1));
  else if (kind == BuiltinOperator::IF)
    model.op(kind, {condition, x}, {y},
             schema::CreateIfOptions(model.fbb(), 1, 1));
  else
    model.op(kind, {x}, {y}, schema::CreateWhileOptions(model.fbb(), 1, 1));
  std::vector<int> sources = {x};
  if (kind == BuiltinOperator::IF && !isConstant)
    sources.push_back(condition);
  model.endSubgraph(sources, {y});
  int a = model.tensor("a", {1, 3}, f32), b = model.tensor("b", {1, 3}, f32);
  model.op(BuiltinOperator::ADD, {a, a}, {b});
  model.endSubgraph({a}, {b}, "twice");
  std::string bytes = static_cast<TFLiteModel &>(model).finish();
  return {bytes, model.inputs};
}

TEST(TFLiteExtents, Subgraphs) {
  check(callSubgraph(BuiltinOperator::CALL, false));
  check(callSubgraph(BuiltinOperator::IF, true));
  for (BuiltinOperator kind : {BuiltinOperator::IF, BuiltinOperator::WHILE})
    EXPECT_THAT(refuse(callSubgraph(kind, false)),
                HasSubstr("is float<6{N}x3>; accepted: extents that no run "
                          "decides"));
}

TEST(TFLiteExtents, RefusesStates) {
  TFLiteControlModel model;
  int x = model.tensor("x", {2}, f32);
  model.assign(model.handle("v"), x);
  int y = model.tensor("y", {2}, f32);
  model.op(BuiltinOperator::ABS, {x}, {y});
  EXPECT_THAT(refuse({model.finish({x}, {y}), {{"x", "float<6{N}>"}}}),
              HasSubstr("(ASSIGN_VARIABLE): input 1 ('x') is float<6{N}>; "
                        "accepted: extents that no run decides"));
}
