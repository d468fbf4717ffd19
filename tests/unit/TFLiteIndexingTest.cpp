//===- TFLiteIndexingTest.cpp - TensorFlow Lite elements by indices -------===//
//
// Elements that are scattered, found and summed by indices, and boxes that are
// selected; a run decides how many results there are.
//
//===----------------------------------------------------------------------===//

#include "TFLiteExtents.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tfliteextents;
using Doubles = std::vector<double>;

/// The elements of output \p name that a run has: what its extents, the output
/// beside it, count of the first dimension.
static Doubles getCounted(const TFLiteRun &run, const std::string &name) {
  Doubles values = run.at(name);
  auto extents = run.find(name + ".extents");
  if (extents == run.end())
    return values;
  double count = 1;
  for (double extent : extents->second)
    count *= extent;
  values.resize(size_t(count));
  return values;
}

/// The counted elements of all outputs of \p runs on the interpreter, which are
/// those of compiled code.
static std::vector<TFLiteRun> runCounted(const std::string &bytes,
                                         llvm::ArrayRef<TFLiteRun> inputs) {
  std::vector<TFLiteRun> expected;
  for (bool isCPU : {false, true}) {
    auto runs = runTFLite(*createBackend(isCPU), bytes, inputs, {});
    if (!runs) {
      ADD_FAILURE() << llvm::toString(runs.takeError());
      return std::vector<TFLiteRun>(inputs.size());
    }
    for (TFLiteRun &run : *runs)
      for (auto &[name, values] : run)
        values = getCounted(run, name);
    if (isCPU)
      EXPECT_EQ(*runs, expected);
    else
      expected = std::move(*runs);
  }
  return expected;
}

//===- SCATTER_ND ---------------------------------------------------------===//

/// Updates of \p type are the input x.
static std::string makeScatter(std::vector<int32_t> indices,
                               std::vector<int32_t> indicesShape,
                               std::vector<int32_t> updates,
                               std::vector<int32_t> shape,
                               TensorType type = f32) {
  TFLiteModel model;
  int rows =
      model.tensor("indices", indicesShape, i32, {}, getTFLiteBytes(indices));
  int x = model.tensor("x", updates, type);
  int extents = model.tensor("shape", {int(shape.size())}, i32, {},
                             getTFLiteBytes(shape));
  int y = model.tensor("y", shape, type);
  model.op(BuiltinOperator::SCATTER_ND, {rows, x, extents}, {y});
  return model.finish({x}, {y});
}

TEST(TFLiteIndexing, ScatterNd) {
  // What has one index is added up.
  EXPECT_EQ(runTFLiteEverywhere(makeScatter({4, 1, 4}, {3, 1}, {3}, {6}),
                                {{{"x", {1, 2, 8}}}})[0]["y"],
            (Doubles{0, 2, 0, 0, 9, 0}));
  EXPECT_EQ(
      runTFLiteEverywhere(makeScatter({1, 0, 0, 1}, {2, 2}, {2}, {2, 3}, i32),
                          {{{"x", {7, -5}}}})[0]["y"],
      (Doubles{0, -5, 0, 7, 0, 0}));
  EXPECT_EQ(runTFLiteEverywhere(makeScatter({2, 0}, {2, 1}, {2, 2}, {3, 2}, i8),
                                {{{"x", {1, 2, 100, 4}}}})[0]["y"],
            (Doubles{100, 4, 0, 0, 1, 2}));
  // Rows of indices in a matrix.
  EXPECT_EQ(runTFLiteEverywhere(
                makeScatter({0, 1, 1, 2}, {2, 2, 1}, {2, 2, 1}, {3, 1}),
                {{{"x", {1, 2, 3, 4}}}})[0]["y"],
            (Doubles{1, 5, 4}));
}

TEST(TFLiteIndexing, ScatterNdOfOpenExtents) {
  Builder model;
  int x = model.input("x", "6{N}x3"), y = model.input("y", "1x3");
  int shape = takeShape(model, x);
  int rows =
      model.tensor("rows", {1, 1}, i32, {}, getTFLiteBytes<int32_t>({0}));
  model.op(BuiltinOperator::SCATTER_ND, {rows, y, shape}, {model.result()});
  check(model.end(), 1, 1, /*mayBeNothing=*/false);
  Builder rowsModel;
  int indices = rowsModel.input("i", "6{N}x1", i32);
  int updates = rowsModel.input("u", "6{N}x4{M}");
  int columns = takeExtent(rowsModel, takeShape(rowsModel, updates), 1);
  int extents = rowsModel.value(i32);
  rowsModel.op(BuiltinOperator::PACK, {rowsModel.number(3), columns}, {extents},
               schema::CreatePackOptions(rowsModel.fbb(), 2, 0));
  rowsModel.op(BuiltinOperator::SCATTER_ND, {indices, updates, extents},
               {rowsModel.result()});
  check(rowsModel.end());
}

TEST(TFLiteIndexing, RefusesScatters) {
  EXPECT_THAT(getTFLiteError(makeScatter({0, 1}, {2, 1}, {3}, {4})),
              HasSubstr("node 'y' (SCATTER_ND): input 1 ('x') is float<3>; "
                        "accepted: 2, an element or a slice for each row of "
                        "indices"));
  EXPECT_THAT(getTFLiteError(makeScatter({0, 1}, {1, 2}, {1}, {4})),
              HasSubstr("input 0 ('indices') is int32<1x2>; accepted: rows of "
                        "as many indices as dimensions, or fewer"));
  EXPECT_THAT(getTFLiteError(makeScatter({0}, {1, 1}, {1}, {4}, i16)),
              HasSubstr("input 1 ('x') is int16<1>; accepted: float, int8, "
                        "uint8, int32, int64"));
  TFLiteModel model;
  int rows =
      model.tensor("rows", {1, 1}, i32, {}, getTFLiteBytes<int32_t>({0}));
  int x = model.tensor("x", {1}, f32), shape = model.tensor("shape", {1}, i32);
  int y = model.tensor("y", {4}, f32);
  model.op(BuiltinOperator::SCATTER_ND, {rows, x, shape}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x, shape}, {y})),
              HasSubstr("node 'y' (SCATTER_ND): input 2 ('shape') is computed "
                        "when the model runs; accepted: a constant"));
}

//===- WHERE --------------------------------------------------------------===//

/// The file states one element, as converters do.
static std::string makeWhere(std::vector<int32_t> shape, TensorType type = f32,
                             std::vector<uint8_t> bytes = {}) {
  TFLiteModel model;
  bool isConstant = !bytes.empty();
  int x = model.tensor("x", shape, type, {}, std::move(bytes));
  int y = model.tensor("y", {1, int(shape.size())}, TensorType::INT64);
  model.op(BuiltinOperator::WHERE, {x}, {y});
  return model.finish(isConstant ? std::vector<int>{} : std::vector{x}, {y});
}

TEST(TFLiteIndexing, Where) {
  auto runs = runCounted(makeWhere({2, 3}), {{{"x", {0, 1, 0, -2, 0, 0.5}}},
                                             {{"x", {0, 0, 0, 0, 0, 0}}},
                                             {{"x", {1, 1, 1, 1, 1, 1}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{0, 1, 1, 0, 1, 2}));
  EXPECT_EQ(runs[0]["y.extents"], (Doubles{3, 2}));
  EXPECT_EQ(runs[1]["y"], Doubles());
  EXPECT_EQ(runs[1]["y.extents"], (Doubles{0, 2}));
  EXPECT_EQ(runs[2]["y"], (Doubles{0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}));
  auto bools =
      runCounted(makeWhere({4}, TensorType::BOOL), {{{"x", {1, 0, 0, 1}}}});
  EXPECT_EQ(bools[0]["y"], (Doubles{0, 3}));
  // A scalar has no index.
  auto scalars = runCounted(makeWhere({}, i32), {{{"x", {7}}}});
  EXPECT_EQ(scalars[0]["y.extents"], (Doubles{1, 0}));
}

TEST(TFLiteIndexing, WhereOfConstants) {
  auto runs = runTFLiteEverywhere(
      makeWhere({4}, i32, getTFLiteBytes<int32_t>({0, 5, 0, -1})), {{}});
  EXPECT_EQ(runs[0]["y"], (Doubles{1, 3}));
  EXPECT_EQ(runs[0].count("y.extents"), 0u);
  EXPECT_THAT(getTFLiteError(makeWhere({0, 3})), "imported");
}

/// What reads the indices has their number of elements.
TEST(TFLiteIndexing, WhereIsRead) {
  TFLiteModel model;
  int x = model.tensor("x", {2, 3}, f32);
  int places = model.tensor("places", {1, 2}, TensorType::INT64);
  int found = model.tensor("found", {1}, f32),
      sum = model.tensor("sum", {}, f32);
  int shape = model.tensor("shape", {2}, i32),
      count = model.tensor("n", {}, i32);
  int numbers = model.tensor("numbers", {1}, i32);
  auto ints = [&](std::vector<int32_t> values) {
    return model.tensor("ints", {int(values.size())}, i32, {},
                        getTFLiteBytes(values));
  };
  auto number = [&](int32_t value) {
    return model.tensor("number", {}, i32, {},
                        getTFLiteBytes<int32_t>({value}));
  };
  model.op(BuiltinOperator::WHERE, {x}, {places});
  model.op(BuiltinOperator::GATHER_ND, {x, places}, {found});
  model.op(BuiltinOperator::SUM, {found, ints({0})}, {sum});
  model.op(BuiltinOperator::SHAPE, {places}, {shape},
           schema::CreateShapeOptions(model.fbb(), i32));
  model.op(BuiltinOperator::STRIDED_SLICE,
           {shape, ints({0}), ints({1}), ints({1})}, {count},
           schema::CreateStridedSliceOptions(model.fbb(), 0, 0, 0, 0, 1));
  model.op(BuiltinOperator::RANGE, {number(0), count, number(1)}, {numbers});
  auto runs = runCounted(model.finish({x}, {found, sum, shape, numbers}),
                         {{{"x", {0, 1, 0, -2, 0, 0.5}}},
                          {{"x", {0, 0, 0, 0, 0, 0}}},
                          {{"x", {8, 0, 0, 0, 0, 0}}}});
  EXPECT_EQ(runs[0]["found"], (Doubles{1, -2, 0.5}));
  EXPECT_EQ(runs[0]["sum"], (Doubles{-0.5}));
  EXPECT_EQ(runs[0]["shape"], (Doubles{3, 2}));
  EXPECT_EQ(runs[0]["numbers"], (Doubles{0, 1, 2}));
  EXPECT_EQ(runs[1]["found"], Doubles());
  EXPECT_EQ(runs[1]["sum"], (Doubles{0}));
  EXPECT_EQ(runs[1]["shape"], (Doubles{0, 2}));
  EXPECT_EQ(runs[2]["numbers"], (Doubles{0}));
}

/// Two of them have numbers of their own, also in the branches of an IF.
TEST(TFLiteIndexing, WhereTwiceAndInBranches) {
  TFLiteModel model;
  auto addSum = [&](int x, const char *name) {
    int places = model.tensor("places", {1, 1}, TensorType::INT64);
    int found = model.tensor("found", {1}, f32);
    int sum = model.tensor(name, {}, f32);
    int axis = model.tensor("axis", {1}, i32, {}, getTFLiteBytes<int32_t>({0}));
    model.op(BuiltinOperator::WHERE, {x}, {places});
    model.op(BuiltinOperator::GATHER_ND, {x, places}, {found});
    model.op(BuiltinOperator::SUM, {found, axis}, {sum});
    return sum;
  };
  int p = model.tensor("p", {}, TensorType::BOOL);
  int x = model.tensor("x", {4}, f32), y = model.tensor("y", {3}, f32);
  int xs = addSum(x, "xs"), ys = addSum(y, "ys"),
      z = model.tensor("z", {}, f32);
  model.op(BuiltinOperator::IF, {p, x}, {z},
           schema::CreateIfOptions(model.fbb(), 1, 2));
  model.endSubgraph({p, x, y}, {xs, ys, z});
  for (const char *name : {"then", "else"}) {
    int a = model.tensor("a", {4}, f32), sum = addSum(a, "sum");
    int b = model.tensor("b", {}, f32);
    model.op(name[0] == 't' ? BuiltinOperator::NEG : BuiltinOperator::ABS,
             {sum}, {b});
    model.endSubgraph({a}, {b}, name);
  }
  auto runs = runCounted(
      model.finish(), {{{"p", {1}}, {"x", {0, 2, 0, 3}}, {"y", {1, 1, 0}}},
                       {{"p", {0}}, {"x", {0, 0, -4, 0}}, {"y", {0, 0, 7}}}});
  EXPECT_EQ(runs[0]["xs"], (Doubles{5}));
  EXPECT_EQ(runs[0]["ys"], (Doubles{2}));
  EXPECT_EQ(runs[0]["z"], (Doubles{-5}));
  EXPECT_EQ(runs[1]["ys"], (Doubles{7}));
  EXPECT_EQ(runs[1]["z"], (Doubles{4}));
}

TEST(TFLiteIndexing, RefusesWhere) {
  TFLiteModel model;
  int x = model.tensor("x", {4}, i8, {{0.5f}, {3}});
  int y = model.tensor("y", {1, 1}, TensorType::INT64);
  model.op(BuiltinOperator::WHERE, {x}, {y});
  EXPECT_THAT(getTFLiteError(model.finish({x}, {y})),
              HasSubstr("node 'y' (WHERE): input 0 ('x') is int8<4>, "
                        "quantized; accepted: tensors that are not quantized"));
}

//===- SEGMENT_SUM --------------------------------------------------------===//

static std::string makeSegmentSum(std::vector<int32_t> shape, int numSegments,
                                  std::vector<int32_t> segments = {},
                                  TensorType type = f32) {
  TFLiteModel model;
  int x = model.tensor("x", shape, type);
  int s = model.tensor("s", {numSegments}, i32, {},
                       segments.empty() ? std::vector<uint8_t>()
                                        : getTFLiteBytes(segments));
  shape[0] = 1;
  int y = model.tensor("y", shape, type);
  model.op(BuiltinOperator::SEGMENT_SUM, {x, s}, {y});
  return model.finish(segments.empty() ? std::vector{x, s} : std::vector{x},
                      {y});
}

TEST(TFLiteIndexing, SegmentSum) {
  Doubles x = {1, 2, 3, 4, 5, 6, 7, 8};
  auto known = runTFLiteEverywhere(makeSegmentSum({4, 2}, 4, {0, 0, 1, 2}),
                                   {{{"x", x}}});
  EXPECT_EQ(known[0]["y"], (Doubles{4, 6, 5, 6, 7, 8}));
  auto runs =
      runCounted(makeSegmentSum({4, 2}, 4), {{{"x", x}, {"s", {0, 1, 1, 1}}},
                                             {{"x", x}, {"s", {0, 0, 0, 0}}},
                                             {{"x", x}, {"s", {0, 1, 2, 3}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{1, 2, 15, 18}));
  EXPECT_EQ(runs[0]["y.extents"], (Doubles{2, 2}));
  EXPECT_EQ(runs[1]["y"], (Doubles{16, 20}));
  EXPECT_EQ(runs[2]["y"], x);
  auto integers =
      runCounted(makeSegmentSum({3}, 3, {}, i32),
                 {{{"x", {5, -7, 1}}, {"s", {0, 0, 1}}},
                  // Nothing is written outside, whatever numbers a run has.
                  {{"x", {5, -7, 1}}, {"s", {0, 900, 70000}}},
                  {{"x", {5, -7, 1}}, {"s", {-5, -9, -100}}}});
  EXPECT_EQ(integers[0]["y"], (Doubles{-2, 1}));
  EXPECT_EQ(integers[1]["y.extents"], (Doubles{3}));
  EXPECT_EQ(integers[2]["y.extents"], (Doubles{0}));
}

TEST(TFLiteIndexing, RefusesSegments) {
  for (std::vector<int32_t> segments :
       {std::vector{1, 1, 2}, {0, 2, 2}, {0, 1, 0}, {-1, 0, 0}})
    EXPECT_THAT(getTFLiteError(makeSegmentSum({3, 2}, 3, segments)),
                HasSubstr("node 'y' (SEGMENT_SUM): input 1 ('s') is int32<3>; "
                          "accepted: 0, then always the same number or the "
                          "next"));
  EXPECT_THAT(getTFLiteError(makeSegmentSum({3, 2}, 4)),
              HasSubstr("input 1 ('s') is int32<4>; accepted: a number for "
                        "each row of input 0"));
  EXPECT_THAT(getTFLiteError(makeSegmentSum({3}, 3, {}, i16)),
              HasSubstr("input 0 ('x') is int16<3>; accepted: float, int32"));
}

//===- NON_MAX_SUPPRESSION ------------------------------------------------===//

namespace {

struct SuppressionCase {
  int most = 6;
  float overlap = 0.5f, score = 0.1f;
  std::optional<float> sigma = {};
};

struct Selected {
  Doubles boxes, scores;
};

} // namespace

static std::string makeSuppression(int count, const SuppressionCase &options) {
  TFLiteModel model;
  auto number = [&](float value) {
    return model.tensor("number", {}, f32, {}, getTFLiteBytes<float>({value}));
  };
  int boxes = model.tensor("boxes", {count, 4}, f32);
  int scores = model.tensor("scores", {count}, f32);
  int most = model.tensor("most", {}, i32, {},
                          getTFLiteBytes<int32_t>({options.most}));
  std::vector<int> inputs = {boxes, scores, most, number(options.overlap),
                             number(options.score)};
  std::vector<int> outputs = {model.tensor("selected", {options.most}, i32)};
  if (options.sigma) {
    inputs.push_back(number(*options.sigma));
    outputs.push_back(model.tensor("lowered", {options.most}, f32));
  }
  outputs.push_back(model.tensor("count", {}, i32));
  model.op(options.sigma ? BuiltinOperator::NON_MAX_SUPPRESSION_V5
                         : BuiltinOperator::NON_MAX_SUPPRESSION_V4,
           inputs, outputs);
  return model.finish({boxes, scores}, outputs);
}

/// The intersection of boxes i and k divided by their union.
static float getOverlap(const Doubles &boxes, size_t i, size_t k) {
  auto low = [&](size_t box, size_t d) {
    return float(std::min(boxes[4 * box + d], boxes[4 * box + d + 2]));
  };
  auto high = [&](size_t box, size_t d) {
    return float(std::max(boxes[4 * box + d], boxes[4 * box + d + 2]));
  };
  float common = 1, own = 1, other = 1;
  for (size_t d : {0, 1}) {
    common *= std::max(std::min(high(i, d), high(k, d)) -
                           std::max(low(i, d), low(k, d)),
                       0.0f);
    own *= high(i, d) - low(i, d);
    other *= high(k, d) - low(k, d);
  }
  return common / (own + other - common);
}

/// Takes the box of the best score and lowers the scores of those that overlap
/// with it, again and again.
static Selected select(const Doubles &boxes, Doubles scores,
                       const SuppressionCase &options) {
  Selected selected;
  std::vector<bool> isOut(scores.size(), false);
  while (int(selected.boxes.size()) < options.most) {
    std::optional<size_t> best;
    for (size_t i = 0; i < scores.size(); ++i)
      if (!isOut[i] && scores[i] > double(options.score) &&
          (!best || scores[i] > scores[*best]))
        best = i;
    if (!best)
      break;
    isOut[*best] = true;
    selected.boxes.push_back(double(*best));
    selected.scores.push_back(scores[*best]);
    for (size_t i = 0; i < scores.size(); ++i) {
      float overlap = getOverlap(boxes, i, *best);
      isOut[i] = isOut[i] || overlap >= options.overlap;
      if (options.sigma.value_or(0) > 0)
        scores[i] *=
            double(std::exp(-0.5f / *options.sigma * overlap * overlap));
    }
  }
  return selected;
}

static void checkSuppression(const Doubles &boxes, const Doubles &scores,
                             const SuppressionCase &options) {
  Selected expected = select(boxes, scores, options);
  std::vector<TFLiteRun> runs =
      runTFLiteEverywhere(makeSuppression(int(scores.size()), options),
                          {{{"boxes", boxes}, {"scores", scores}}});
  size_t count = expected.boxes.size();
  EXPECT_EQ(runs[0]["count"], (Doubles{double(count)}));
  expected.boxes.resize(size_t(options.most), 0);
  EXPECT_EQ(runs[0]["selected"], expected.boxes);
  if (!options.sigma)
    return;
  expected.scores.resize(size_t(options.most), 0);
  ASSERT_EQ(runs[0]["lowered"].size(), expected.scores.size());
  for (size_t i = 0; i < expected.scores.size(); ++i)
    EXPECT_NEAR(runs[0]["lowered"][i], expected.scores[i], 1e-6);
}

TEST(TFLiteIndexing, NonMaxSuppression) {
  Random random(7);
  for (int count : {1, 5, 20}) {
    Doubles boxes, scores;
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < 4; ++k)
        boxes.push_back(double(float(random.uniform(0, 1))));
      scores.push_back(double(float(random.uniform(0, 1))));
    }
    for (int most : {1, 4, 30})
      for (float overlap : {0.0f, 0.1f, 0.4f, 1.0f})
        for (float score : {-1.0f, 0.4f, 2.0f}) {
          SuppressionCase options{
              .most = most, .overlap = overlap, .score = score};
          checkSuppression(boxes, scores, options);
          for (float sigma : {0.0f, 0.3f}) {
            options.sigma = sigma;
            checkSuppression(boxes, scores, options);
          }
        }
  }
  checkSuppression({0, 0, 1, 1}, {0.5}, {.most = 0});
}

/// An overlap of the threshold is too much.
TEST(TFLiteIndexing, SuppressesAtTheThreshold) {
  Doubles boxes = {0, 0, 1, 1, 0, 0.5, 1, 1, 2, 2, 3, 3}, scores = {3, 2, 1};
  checkSuppression(boxes, scores, {.most = 3, .overlap = 0.5f});
  checkSuppression(boxes, scores,
                   {.most = 3, .overlap = std::nextafter(0.5f, 1.0f)});
}

TEST(TFLiteIndexing, RefusesSuppressions) {
  auto getError = [](SuppressionCase options) {
    return getTFLiteError(makeSuppression(4, options));
  };
  EXPECT_THAT(getError({.overlap = 1.5f}),
              HasSubstr("node 'selected' (NON_MAX_SUPPRESSION_V4): input 3 "
                        "('number') is float<>; accepted: a number from 0.0 to "
                        "1.0"));
  EXPECT_THAT(getError({.sigma = -1.0f}),
              HasSubstr("(NON_MAX_SUPPRESSION_V5): input 5 ('number_2') is "
                        "float<>; accepted: a number from 0.0 to inf"));
  EXPECT_THAT(getError({.score = NAN}), HasSubstr("accepted: a number from"));
  TFLiteModel model;
  int boxes = model.tensor("boxes", {4, 4}, i8, {{0.5f}, {0}});
  int scores = model.tensor("scores", {4}, i8, {{0.5f}, {0}});
  int most = model.tensor("most", {}, i32), y = model.tensor("y", {4}, i32);
  int t = model.tensor("t", {}, f32), n = model.tensor("n", {}, i32);
  model.op(BuiltinOperator::NON_MAX_SUPPRESSION_V4, {boxes, scores, most, t, t},
           {y, n});
  EXPECT_THAT(getTFLiteError(model.finish({boxes, scores, most, t}, {y, n})),
              HasSubstr("node 'y' (NON_MAX_SUPPRESSION_V4): input 0 ('boxes') "
                        "is int8<4x4>, quantized; accepted: float"));
}

//===- Numbers that runs state --------------------------------------------===//

TEST(TFLiteIndexing, TopElementsOfARun) {
  for (std::vector<int32_t> shape : {std::vector<int32_t>{}, {1}}) {
    TFLiteModel model;
    int x = model.tensor("x", {2, 3}, f32), k = model.tensor("k", shape, i32);
    int top = model.tensor("top", {2, 3}, f32),
        at = model.tensor("at", {2, 3}, i32);
    model.op(BuiltinOperator::TOPK_V2, {x, k}, {top, at});
    int sums = model.tensor("sums", {2}, f32),
        places = model.tensor("places", {2}, i32),
        axis = model.tensor("", {1}, i32, {}, getTFLiteBytes<int32_t>({1}));
    model.op(BuiltinOperator::SUM, {top, axis}, {sums});
    model.op(BuiltinOperator::SUM, {at, axis}, {places});
    std::vector<TFLiteRun> inputs;
    for (double count : {2, 0, 3, 4, -1})
      inputs.push_back({{"x", {1, 5, 3, 9, 7, 8}}, {"k", {count}}});
    auto runs = runCounted(model.finish({x, k}, {top, sums, places}), inputs);
    EXPECT_EQ(runs[0]["top.extents"], (Doubles{2, 2}));
    EXPECT_EQ(runs[0]["sums"], (Doubles{8, 17}));
    EXPECT_EQ(runs[0]["places"], (Doubles{3, 2}));
    EXPECT_EQ(runs[1]["top.extents"], (Doubles{2, 0}));
    EXPECT_EQ(runs[1]["sums"], (Doubles{0, 0}));
    EXPECT_EQ(runs[2]["sums"], (Doubles{9, 24}));
    EXPECT_EQ(runs[3]["top.extents"], (Doubles{2, 3}));
    EXPECT_EQ(runs[4]["top.extents"], (Doubles{2, 0}));
  }
}

/// Builds x[i, low:3] as converters do, with i in the place of its dimension if
/// \p shrinks.
static std::string makeRowSlice(bool shrinks) {
  TFLiteModel model;
  int x = model.tensor("x", {3, 4}, f32), i = model.tensor("i", {}, i32);
  auto number = [&](int value) {
    return model.tensor("", {}, i32, {}, getTFLiteBytes<int32_t>({value}));
  };
  auto pack = [&](int first, int second) {
    int list = model.tensor("", {2}, i32);
    model.op(BuiltinOperator::PACK, {first, second}, {list},
             schema::CreatePackOptions(model.fbb(), 2));
    return list;
  };
  int next = model.tensor("next", {}, i32), y = model.tensor("y", {}, f32);
  model.op(BuiltinOperator::ADD, {i, number(1)}, {next});
  int steps = model.tensor("", {2}, i32, {}, getTFLiteBytes<int32_t>({1, 1}));
  int begins = pack(i, number(1)), ends = pack(next, number(3));
  model.op(BuiltinOperator::STRIDED_SLICE, {x, begins, ends, steps}, {y},
           schema::CreateStridedSliceOptions(model.fbb(), 0, 0, 0, 0, shrinks));
  return model.finish({x, i}, {y});
}

TEST(TFLiteIndexing, RowsOfARun) {
  Doubles x{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  auto runs =
      runTFLiteEverywhere(makeRowSlice(true), {{{"x", x}, {"i", {1}}},
                                               {{"x", x}, {"i", {0}}},
                                               {{"x", x}, {"i", {-1}}}});
  EXPECT_EQ(runs[0]["y"], (Doubles{11, 12}));
  EXPECT_EQ(runs[1]["y"], (Doubles{1, 2}));
  EXPECT_EQ(runs[2]["y"], (Doubles{21, 22}));
  EXPECT_THAT(getTFLiteError(makeRowSlice(false)),
              HasSubstr("entry 0 is a slice whose places a run states; "
                        "accepted: numbers, and an index in the place of a "
                        "dimension (shrink_axis_mask)"));
}
