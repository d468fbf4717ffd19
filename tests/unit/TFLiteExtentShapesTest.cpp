//===- TFLiteExtentShapesTest.cpp - TensorFlow Lite shapes of open dimensions
//===//

#include "TFLiteExtents.h"

using namespace glowish;
using namespace glowish::tfliteextents;

/// Of a file for one sample, [1, 2, 3].
static OpenModel reshapeOne(const std::string &dims,
                            std::vector<int32_t> shape) {
  Builder model;
  int x = model.tensor("x", {1, 2, 3}, f32);
  model.op(BuiltinOperator::RESHAPE, {x, model.ints(shape)}, {model.result()});
  return {model.finish({x}, model.sinks), {{"x", "float<" + dims + ">"}}};
}

TEST(TFLiteExtents, ReshapesOfOneSample) {
  check(reshapeOne("6{N}x2x3", {1, 6}), /*atLeast=*/2);
  check(reshapeOne("6{N}x2x3", {1, 3, 2}), /*atLeast=*/2);
  for (const char *dims : {"6{N}x2x4", "6{N}x4{M}x3", "1x2x6{N}"})
    EXPECT_THAT(refuse(reshapeOne(dims, {1, 6})),
                HasSubstr("node 'y' (RESHAPE): its input is float<"));
  EXPECT_THAT(refuse(reshapeOne("6{N}x2x3", {2, 3})),
              HasSubstr("accepted: -1 for one of its dimensions"));
}

TEST(TFLiteExtents, ReshapeByConstants) {
  check(reshape("6{N}x2x3", {-1, 6}));
  check(reshape("6{N}x2x3", {1, -1}));
  // The constant dimension is the outer one.
  check(reshape("6{N}x8", {4, -1}));
  check(reshape("3x6{N}x4{M}", {-1}));
  check(reshape("6{N}x4{M}x2", {-1, 2}));
  check(reshape("3x6{N}", {-1, 3}));
  check(reshape("6{N}x2", {-1, 4}), /*atLeast=*/1, /*divisor=*/2);
  EXPECT_THAT(refuse(reshape("6{N}x1001", {1, 1001})),
              HasSubstr("node 'y' (RESHAPE): its input is float<6{N}x1001>, "
                        "and the new shape has always 1001 elements; accepted: "
                        "-1 for one of its dimensions"));
  EXPECT_THAT(refuse(reshape("6{N}x2", {-1, -1})),
              HasSubstr("the new shape is [-1, -1]; accepted: extents of 0 and "
                        "more, and one -1"));
}

TEST(TFLiteExtents, ReshapesOfNoElements) {
  auto import = [](std::vector<int32_t> dims) {
    TFLiteModel model;
    int x = model.tensor("x", std::move(dims), f32),
        to = model.tensor("to", {2}, i32, {}, getTFLiteBytes<int32_t>({0, -1})),
        y = model.tensor("y", {0, 3}, f32);
    model.op(BuiltinOperator::RESHAPE, {x, to}, {y});
    return getTFLiteError(model.finish({x}, {y}));
  };
  EXPECT_EQ(import({0, 3}), "imported");
  EXPECT_THAT(import({2, 3}),
              HasSubstr("the new shape is [0, -1]; accepted: beside -1 extents "
                        "that divide the number of elements, 6"));
}

/// As Keras' Flatten: [batch, \p columns].
static OpenModel flatten(const std::string &dims, int columns) {
  Builder model;
  int x = model.input("x", dims);
  int batch = takeExtent(model, takeShape(model, x), 0);
  int shape = model.value(i32);
  model.op(BuiltinOperator::PACK, {batch, model.number(columns)}, {shape},
           schema::CreatePackOptions(model.fbb(), 2, 0));
  model.op(BuiltinOperator::RESHAPE, {x, shape}, {model.result()});
  return model.end();
}

TEST(TFLiteExtents, ShapeArithmetic) {
  check(flatten("6{N}x2x3", -1));
  check(flatten("6{N}x2x3", 6));
  check(flatten("6{N}x4{M}x3", -1));
  // A run without samples has as many columns as others, unless there are none.
  check(flatten("5{N - 1}x2x3", -1));
  EXPECT_THAT(refuse(flatten("5{N - 1}x3{M - 1}", -1)),
              HasSubstr("the new shape is [N - 1, -1]; accepted: beside -1 no "
                        "extent that is 0, or may be 0 in a run"));
  // Known extents of an open shape: reduced, they are a constant.
  Builder model;
  int x = model.input("x", "6{N}x2x3");
  int shape = takeShape(model, x), rest = model.value(i32);
  model.op(BuiltinOperator::STRIDED_SLICE,
           {shape, model.ints({1}), model.ints({3}), model.ints({1})}, {rest});
  int columns = model.value(i32), whole = model.value(i32);
  model.op(BuiltinOperator::REDUCE_PROD, {rest, model.ints({0})}, {columns},
           schema::CreateReducerOptions(model.fbb(), true));
  model.op(BuiltinOperator::CONCATENATION, {model.ints({-1}), columns}, {whole},
           schema::CreateConcatenationOptions(model.fbb(), 0));
  model.op(BuiltinOperator::RESHAPE, {x, whole}, {model.result()});
  check(model.end());
  // Heads: [batch, length, 2, 3], joined as [2*batch, length, 3].
  Builder heads;
  x = heads.input("x", "6{N}x4{M}x6");
  shape = takeShape(heads, x);
  int n = takeExtent(heads, shape, 0), m = takeExtent(heads, shape, 1);
  int first = heads.value(i32), second = heads.value(i32);
  heads.op(BuiltinOperator::PACK, {n, m, heads.number(2), heads.number(3)},
           {first}, schema::CreatePackOptions(heads.fbb(), 4, 0));
  int split = heads.value(), turned = heads.value(), twice = heads.value(i32);
  heads.op(BuiltinOperator::RESHAPE, {x, first}, {split});
  heads.op(BuiltinOperator::TRANSPOSE, {split, heads.ints({0, 2, 1, 3})},
           {turned});
  heads.op(BuiltinOperator::MUL, {n, heads.number(2)}, {twice},
           schema::CreateMulOptions(heads.fbb()));
  heads.op(BuiltinOperator::PACK, {twice, m, heads.number(3)}, {second},
           schema::CreatePackOptions(heads.fbb(), 3, 0));
  heads.op(BuiltinOperator::RESHAPE, {turned, second}, {heads.result()});
  check(heads.end());
}

/// The product of extents that a run decides.
TEST(TFLiteExtents, ReducedExtents) {
  for (bool keepsDims : {false, true}) {
    Builder model;
    int x = model.input("x", "6{N}x4{M}x3");
    int shape = takeShape(model, x), leading = model.value(i32);
    model.op(BuiltinOperator::STRIDED_SLICE,
             {shape, model.ints({0}), model.ints({2}), model.ints({1})},
             {leading});
    int count = model.value(i32), whole = model.value(i32);
    model.op(BuiltinOperator::REDUCE_PROD, {leading, model.ints({0})}, {count},
             schema::CreateReducerOptions(model.fbb(), keepsDims));
    if (keepsDims)
      model.op(BuiltinOperator::CONCATENATION, {count, model.ints({3})},
               {whole}, schema::CreateConcatenationOptions(model.fbb(), 0));
    else
      model.op(BuiltinOperator::PACK, {count, model.number(3)}, {whole},
               schema::CreatePackOptions(model.fbb(), 2, 0));
    model.op(BuiltinOperator::RESHAPE, {x, whole}, {model.result()});
    check(model.end());
  }
}

TEST(TFLiteExtents, ValuesOfExtents) {
  // [N, M, 3], and how many there are.
  Builder shape;
  shape.sinks = {takeShape(shape, shape.input("x", "6{N}x4{M}x3"))};
  check(shape.end());
  // FILL, BROADCAST_TO, TILE and RANGE by extents.
  Builder model;
  int x = model.input("x", "6{N}x4{M}");
  int own = takeShape(model, x);
  int n = takeExtent(model, own, 0), m = takeExtent(model, own, 1);
  int one = model.tensor("one", {}, f32, {}, getTFLiteBytes<float>({2}));
  model.op(BuiltinOperator::FILL, {own, one}, {model.result()});
  model.op(BuiltinOperator::BROADCAST_TO, {model.weights({6, 1}), own},
           {model.value()});
  OpenModel refused = model.end();
  EXPECT_THAT(refuse(refused), HasSubstr("(BROADCAST_TO): input 0 "
                                         "('weights') is float<6x1>; accepted: "
                                         "N or 1 in dimension 0"));
  // What may be 0 is not 1.
  Builder row;
  x = row.input("x", "1{N//4}x3");
  row.op(BuiltinOperator::BROADCAST_TO, {x, row.ints({1, 3})}, {row.result()});
  EXPECT_THAT(refuse(row.end()), HasSubstr("accepted: 1 in dimension 0"));
  Builder others;
  x = others.input("x", "6{N}x4{M}");
  own = takeShape(others, x);
  n = takeExtent(others, own, 0);
  m = takeExtent(others, own, 1);
  one = others.tensor("one", {}, f32, {}, getTFLiteBytes<float>({2}));
  others.op(BuiltinOperator::FILL, {own, one}, {others.result()});
  others.op(BuiltinOperator::BROADCAST_TO, {others.weights({1}), own},
            {others.result()});
  int repeats = others.value(i32);
  others.op(BuiltinOperator::PACK, {n, others.number(1)}, {repeats},
            schema::CreatePackOptions(others.fbb(), 2, 0));
  others.op(BuiltinOperator::TILE, {others.weights({2, 3}), repeats},
            {others.result()});
  others.op(BuiltinOperator::RANGE, {others.number(1), m, others.number(1)},
            {others.result(i32)});
  others.op(BuiltinOperator::RANGE, {others.number(0), n, others.number(2)},
            {others.result(i32)});
  // The first of a table, by the length.
  int end = others.value(i32);
  others.op(BuiltinOperator::PACK, {m, others.number(0)}, {end},
            schema::CreatePackOptions(others.fbb(), 2, 0));
  others.op(
      BuiltinOperator::STRIDED_SLICE,
      {others.weights({4, 3}), others.ints({0, 0}), end, others.ints({1, 1})},
      {others.result()},
      schema::CreateStridedSliceOptions(others.fbb(), 3, 2, 0, 0, 0));
  check(others.end());
}
