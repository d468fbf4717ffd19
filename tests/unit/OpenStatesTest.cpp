//===- OpenStatesTest.cpp - Runs of few extents after runs of many --------===//
//
// States whose lengths shrink and grow, runs of nothing on several threads, and
// models of many symbols.
//
//===----------------------------------------------------------------------===//

#include "OnnxExtentRuns.h"
#include <ctime>

using namespace glowish;

namespace {

/// Keys of two heads: those of the past, and new ones.
std::vector<TextModel> makeCaches() {
  std::string inputs = symbolicInput("x", {"1", "2", "S", "4"}) +
                       symbolicInput("p", {"1", "2", "P", "4"});
  std::string outputs = "output { name: \"y\" } output { name: \"keys\" } ";
  TextModel sums, attention;
  for (TextModel *model : {&sums, &attention}) {
    model->opset = 23;
    model->inputs.clear();
    model->outputs = outputs;
  }
  sums.body = inputs + int64s("axes", {2}) +
              onnxNode("Concat", {"p", "x"}, intAttr("axis", 2), "keys") +
              onnxNode("ReduceMean", {"keys", "axes"});
  attention.body = inputs + onnxNode("Attention", {"x", "x", "x", "", "p", "p"},
                                     "output: \"keys\" ");
  std::vector<TextModel> models;
  models.push_back(std::move(sums));
  models.push_back(std::move(attention));
  return models;
}

/// The first \p numRows rows of each head of \p keys, and then those of \p x.
Tensor appendRows(const Tensor &keys, int64_t numRows, const Tensor *x) {
  constexpr int64_t numColumns = 4;
  int64_t own = keys.getType().getDim(2);
  int64_t added = x ? x->getType().getDim(2) : 0;
  Tensor all(Type(ElemKind::Float, {1, 2, numRows + added, numColumns}));
  int64_t at = 0;
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t i = 0; i < numRows * numColumns; ++i)
      all.setFromDouble(at++, keys.getAsDouble(head * own * numColumns + i));
    for (int64_t i = 0; i < added * numColumns; ++i)
      all.setFromDouble(at++, x->getAsDouble(head * added * numColumns + i));
  }
  return all;
}

Tensor makeExtent(int64_t extent) {
  return Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {extent});
}

} // namespace

/// Runs write the new rows alone: earlier ones stay, also where later runs take
/// fewer of them, and come back to more.
TEST(OpenStates, ShrinkAndGrow) {
  const std::pair<int64_t, int64_t> steps[] = {
      {0, 3}, {3, 1}, {4, 3}, {2, 1}, {3, 2}, {5, 3}, {1, 1},
      {2, 3}, {5, 1}, {0, 1}, {1, 3}, {4, 2}, {6, 3}, {9, 1}};
  for (TextModel &model : makeCaches())
    for (bool isCPU : {false, true}) {
      ImportOptions options;
      options.symbolRanges = {{"S", {1, 3}}, {"P", {0, 10}}};
      options.states = {{"p", "keys"}};
      Program program = llvm::cantFail(tryCompile(model, isCPU, options));
      Tensor keys(Type(ElemKind::Float, {1, 2, 0, 4}));
      uint64_t seed = 0;
      for (auto [past, added] : steps) {
        SCOPED_TRACE(std::to_string(past) + " and " + std::to_string(added));
        Tensor x = makeRandom(Type(ElemKind::Float, {1, 2, added, 4}), ++seed);
        Program fixed =
            compile(model, /*isCPU=*/false, {{"S", added}, {"P", past}}, {});
        llvm::cantFail(program.session->setInput(program.find("x"), x));
        llvm::cantFail(
            program.session->setInput(program.find("P"), makeExtent(past)));
        ASSERT_EQ(getMessage(program.session->run()), "");
        llvm::cantFail(fixed.session->setInput(fixed.find("x"), x));
        llvm::cantFail(fixed.session->setInput(
            fixed.find("p"), appendRows(keys, past, nullptr)));
        llvm::cantFail(fixed.session->run());
        expectSame(program.session->getOutput(program.find("y")),
                   fixed.session->getOutput(fixed.find("y")), "y");
        keys = appendRows(keys, past, &x);
        expectSame(keys, fixed.session->getOutput(fixed.find("keys")), "keys");
      }
    }
}

/// A state to which the rows of another one are joined, whose memory is larger
/// than the result: its rows come to lie behind the first one's.
TEST(OpenStates, JoinedToEachOther) {
  TextModel model;
  model.inputs.clear();
  model.outputs = "output { name: \"y\" } output { name: \"a_next\" } "
                  "output { name: \"b_next\" } ";
  model.body = symbolicInput("x", {"1", "2", "S", "4"}) +
               symbolicInput("a", {"1", "2", "P", "4"}) +
               symbolicInput("b", {"1", "2", "Q", "4"}) +
               onnxNode("Concat", {"a", "b"}, intAttr("axis", 2), "a_next") +
               onnxNode("Concat", {"b", "x"}, intAttr("axis", 2), "b_next") +
               onnxNode("Neg", {"a_next"});
  ImportOptions options;
  options.symbolRanges = {{"S", {1, 3}}, {"P", {0, 2}}, {"Q", {0, 2}}};
  options.states = {{"a", "a_next"}, {"b", "b_next"}};
  for (bool isCPU : {false, true}) {
    Program program = llvm::cantFail(tryCompile(model, isCPU, options));
    Type empty(ElemKind::Float, {1, 2, 0, 4});
    Tensor a(empty), b(empty);
    uint64_t seed = 0;
    for (auto [p, q] : {std::pair(0, 0), {0, 2}, {2, 1}, {1, 2}, {2, 2}}) {
      SCOPED_TRACE(std::to_string(p) + " and " + std::to_string(q));
      Tensor x = makeRandom(Type(ElemKind::Float, {1, 2, 3, 4}), ++seed);
      Program fixed =
          compile(model, /*isCPU=*/false, {{"S", 3}, {"P", p}, {"Q", q}}, {});
      llvm::cantFail(program.session->setInput(program.find("x"), x));
      for (auto [name, value] : {std::pair("P", p), {"Q", q}})
        llvm::cantFail(
            program.session->setInput(program.find(name), makeExtent(value)));
      ASSERT_EQ(getMessage(program.session->run()), "");
      Tensor ownA = appendRows(a, p, nullptr), ownB = appendRows(b, q, nullptr);
      llvm::cantFail(fixed.session->setInput(fixed.find("x"), x));
      llvm::cantFail(fixed.session->setInput(fixed.find("a"), ownA));
      llvm::cantFail(fixed.session->setInput(fixed.find("b"), ownB));
      llvm::cantFail(fixed.session->run());
      expectSame(program.session->getOutput(program.find("y")),
                 fixed.session->getOutput(fixed.find("y")), "y");
      a = appendRows(ownA, p, &ownB);
      b = appendRows(ownB, q, &x);
    }
  }
}

/// Of no rows there is no task, and what doesn't depend on them is computed.
TEST(OpenStates, RunsOfNothingOnThreads) {
  TextModel model;
  model.opset = 18;
  model.inputs.clear();
  model.outputs = "output { name: \"y\" } output { name: \"z\" } "
                  "output { name: \"w\" } ";
  std::vector<float> weights(64 * 64, 0.125f);
  model.body =
      symbolicInput("x", {"N", "64"}) + symbolicInput("other", {"9", "64"}) +
      int64s("axes", {0}) + floats("weights", {64, 64}, weights) +
      onnxNode("MatMul", {"x", "weights"}, "", "m") + onnxNode("Exp", {"m"}) +
      onnxNode("ReduceSum", {"y", "axes"}, "", "sum") +
      onnxNode("Add", {"other", "sum"}, "", "z") +
      onnxNode("Softmax", {"z"}, "", "w");
  for (TargetOptions target : getLevels()) {
    target.numThreads = 3;
    target.testing.dividesSmallKernels = true;
    Program open = compile(model, /*isCPU=*/true, {}, {{"N", {0, 40}}}, target);
    for (int64_t n : {40, 0, 1, 0, 7}) {
      SCOPED_TRACE(n);
      Program fixed = compile(model, /*isCPU=*/false, {{"N", n}}, {});
      compareRuns(open, fixed, {{"N", n}});
    }
  }
}

/// A model of 64 inputs, the rows of each of which are one of \p numSymbols
/// symbols, and all rows in one value.
static TextModel makeConcatenation(int64_t numSymbols, ExtentRanges &ranges) {
  TextModel model;
  model.inputs.clear();
  std::vector<std::string> inputs;
  for (int64_t i = 0; i < 64; ++i) {
    std::string symbol = "N" + std::to_string(i % numSymbols);
    inputs.push_back("x" + std::to_string(i));
    model.body += symbolicInput(inputs.back(), {symbol, "4"});
    ranges[symbol] = {0, 4};
  }
  model.body += onnxNode("Concat", inputs, intAttr("axis", 0), "all") +
                onnxNode("Relu", {"all"});
  return model;
}

/// Many inputs take no second, and more symbols than an extent has terms get a
/// message as soon.
TEST(OpenStates, ManySymbols) {
  std::clock_t begin = std::clock();
  auto getSeconds = [&] {
    return double(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  ExtentRanges ranges, others;
  TextModel model = makeConcatenation(Extent::maxTerms, ranges);
  Program open = compile(model, /*isCPU=*/true, {}, ranges);
  EXPECT_LT(getSeconds(), 1);
  ExtentValues values;
  for (const auto &[symbol, range] : ranges)
    values[symbol] = int64_t(values.size()) % 5;
  Program fixed = compile(model, /*isCPU=*/false, values, {});
  compareRuns(open, fixed, values);
  begin = std::clock();
  TextModel refused = makeConcatenation(64, others);
  EXPECT_EQ(importError(refused, others),
            "'m': node 'all' (Concat): Concat 'all': the extent of dimension 0 "
            "of the result has too many terms; accepted: at most 16, each "
            "of at most 4 factors");
  EXPECT_LT(getSeconds(), 1);
}
