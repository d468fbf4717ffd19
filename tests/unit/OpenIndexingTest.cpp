//===- OpenIndexingTest.cpp - Indexing with extents that runs decide ------===//
//
// ONNX operators that choose elements, compiled once for ranges of symbols,
// against the same models compiled for each of some values. What is beyond the
// extents of inputs is NaN.
//
//===----------------------------------------------------------------------===//

#include "OnnxExtentRuns.h"

using namespace glowish;

namespace {

const ExtentRanges ranges = {
    {"B", {1, 3}}, {"N", {3, 7}}, {"M", {1, 4}}, {"K", {0, 5}}};

/// A model whose inputs have dimensions that are numbers or symbols.
struct Case {
  std::vector<std::pair<std::string, std::vector<llvm::StringRef>>> inputs;
  std::string body;
  int opset = 18;
  std::string outputs = "output { name: \"y\" } ";
};

TextModel makeModel(const Case &test) {
  TextModel model;
  model.opset = test.opset;
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 } ";
  model.inputs.clear();
  model.outputs = test.outputs;
  for (const auto &[name, dims] : test.inputs)
    model.body += symbolicInput(name, dims);
  model.body += test.body;
  return model;
}

void check(const Case &test) {
  SCOPED_TRACE(test.body);
  TextModel model = makeModel(test);
  checkFromNothing(model, ranges,
                   {{{"B", 3}, {"N", 7}, {"M", 4}, {"K", 5}},
                    {{"B", 1}, {"N", 3}, {"M", 1}, {"K", 0}},
                    {{"B", 2}, {"N", 5}, {"M", 3}, {"K", 2}}});
}

std::string importError(const Case &test) {
  TextModel model = makeModel(test);
  return importError(model, findRanges(model, ranges));
}

/// Integers from -\p most + 1 to \p most - 1, or from 0 on, of \p input.
std::string makeIndices(const std::string &input, double most,
                        const std::string &output, bool isNegative = true) {
  std::string factor = output + ".factor", wide = output + ".wide",
              own = output + ".own";
  return floats(factor, {}, {float(most - 0.01)}) +
         onnxNode(isNegative ? "Identity" : "Abs", {input}, "", own) +
         onnxNode("Mul", {own, factor}, "", wide) +
         onnxNode("Cast", {wide}, intAttr("to", 7), output);
}

std::string twoOutputs(const std::string &type,
                       const std::vector<std::string> &inputs,
                       const std::string &attributes) {
  std::string text = "node { op_type: \"" + type + "\" ";
  for (const std::string &input : inputs)
    text += "input: \"" + input + "\" ";
  return text + "output: \"y\" output: \"z\" " + attributes + "} ";
}

const std::string outputsYZ = "output { name: \"y\" } output { name: \"z\" } ";

} // namespace

TEST(OpenIndexing, Gathers) {
  for (const char *axis : {"B", "3"})
    check({{{"x", {"N", axis}}, {"k", {"K", "2"}}},
           makeIndices("k", 3, "i") + onnxNode("Gather", {"x", "i"})});
  check({{{"x", {"B", "N", "2"}}, {"k", {"B", "M", "2"}}},
         makeIndices("k", 3, "i") +
             onnxNode("GatherElements", {"x", "i"}, intAttr("axis", 1))});
  check({{{"x", {"B", "2", "N"}}, {"k", {"B", "2", "K"}}},
         makeIndices("k", 3, "i") +
             onnxNode("GatherElements", {"x", "i"}, intAttr("axis", -1))});
  check({{{"x", {"B", "N", "M"}}, {"k", {"B", "K", "1"}}},
         makeIndices("k", 3, "i") +
             onnxNode("GatherND", {"x", "i"}, intAttr("batch_dims", 1))});
  check({{{"x", {"N", "N", "M"}}, {"k", {"K", "B", "2"}}},
         makeIndices("k", 3, "i") + onnxNode("GatherND", {"x", "i"})});
  check({{{"x", {"N", "M"}}, {"k", {"K", "2"}}},
         makeIndices("k", 1, "i") + onnxNode("GatherND", {"x", "i"})});
  EXPECT_NE(
      importError({{{"x", {"N", "M", "2"}}, {"k", {"3", "B"}}},
                   makeIndices("k", 1, "i") + onnxNode("GatherND", {"x", "i"})})
          .find("a run decides how many indices a tuple has"),
      std::string::npos);
}

/// Nothing is written beyond the updates of a run, which are not more than
/// their bound.
TEST(OpenIndexing, Scatters) {
  for (const char *reduction : {"none", "add", "max"}) {
    std::string attrs = stringAttr("reduction", reduction);
    check({{{"x", {"N", "M"}}, {"k", {"K", "1"}}, {"u", {"K", "M"}}},
           makeIndices("k", 3, "i") +
               onnxNode("ScatterND", {"x", "i", "u"}, attrs)});
    check({{{"x", {"N", "3", "M"}},
            {"k", {"B", "K", "2"}},
            {"u", {"B", "K", "M"}}},
           makeIndices("k", 3, "i") +
               onnxNode("ScatterND", {"x", "i", "u"}, attrs)});
    check(
        {{{"x", {"B", "N"}}, {"k", {"B", "K"}}, {"u", {"B", "K"}}},
         makeIndices("k", 3, "i") + onnxNode("ScatterElements", {"x", "i", "u"},
                                             attrs + intAttr("axis", 1))});
    check({{{"x", {"N", "M"}}, {"k", {"K", "M"}}, {"u", {"K", "M"}}},
           makeIndices("k", 3, "i") +
               onnxNode("ScatterElements", {"x", "i", "u"}, attrs)});
  }
}

TEST(OpenIndexing, SlicesOfCaches) {
  for (const char *mode : {"linear", "circular"}) {
    std::string scatter =
        makeIndices("s", 3, "i", /*isNegative=*/false) +
        onnxNode("TensorScatter", {"x", "u", "i"},
                 stringAttr("mode", mode) + intAttr("axis", 1));
    check({{{"x", {"B", "N", "2"}}, {"u", {"B", "1", "2"}}, {"s", {"B"}}},
           scatter,
           24});
    check({{{"x", {"B", "7", "M"}}, {"u", {"B", "M", "M"}}, {"s", {"B"}}},
           scatter,
           24});
    check({{{"x", {"1", "N", "2"}}, {"u", {"1", "1", "2"}}, {"s", {"1"}}},
           scatter,
           24});
  }
}

TEST(OpenIndexing, Orders) {
  for (int64_t largest : {0, 1}) {
    std::string attrs = intAttr("axis", 1) + intAttr("largest", largest);
    // Of some the square root is no number.
    std::string root = onnxNode("Sqrt", {"x"}, "", "root");
    for (llvm::StringRef own : {"N", "8"}) {
      Case test{{{"x", {"B", own, "M"}}, {"v", {"N"}}}, "", 18, outputsYZ};
      std::string length = onnxNode("Shape", {"v"}, "", "n");
      test.body = root + length + int64s("three", {3}) +
                  onnxNode("Identity", {"n"}, "", "unused") +
                  twoOutputs("TopK", {"root", "three"}, attrs);
      check(test);
      test.body = root + length + twoOutputs("TopK", {"root", "n"}, attrs);
      check(test);
      test.body = root + length + int64s("two", {2}) +
                  onnxNode("Div", {"n", "two"}, "", "half") +
                  twoOutputs("TopK", {"root", "half"}, attrs);
      check(test);
    }
  }
  for (int64_t time : {0, 1})
    check({{{"x", {time ? "B" : "N", time ? "N" : "B", "M"}}, {"l", {"B"}}},
           makeIndices("l", 4, "i", /*isNegative=*/false) +
               onnxNode("ReverseSequence", {"x", "i"},
                        intAttr("time_axis", time) +
                            intAttr("batch_axis", 1 - time))});
}

TEST(OpenIndexing, Concatenations) {
  Case test{{{"x", {"N", "B"}},
             {"k", {"K", "B"}},
             {"m", {"M", "B"}},
             {"two", {"2", "B"}}},
            ""};
  for (const std::vector<std::string> &parts :
       {std::vector<std::string>{"x", "k", "m", "two"},
        {"two", "two", "k", "two", "x", "m"},
        {"two", "m"},
        {"x"}}) {
    test.body = onnxNode("Concat", parts, intAttr("axis", 0));
    for (const char *unused : {"x", "k", "m", "two"})
      test.body += onnxNode("Neg", {unused}, "", unused + std::string(".neg"));
    check(test);
  }
  check({{{"x", {"B", "N"}}, {"m", {"B", "M"}}},
         onnxNode("Relu", {"x"}, "", "r") +
             onnxNode("Concat", {"x", "m", "r"}, intAttr("axis", 1))});
}

TEST(OpenIndexing, WhatIsFound) {
  std::string positive =
      floats("zero", {}, {0}) + onnxNode("Greater", {"x", "zero"}, "", "g");
  check({{{"x", {"B", "N", "M"}}}, positive + onnxNode("NonZero", {"g"})});
  std::string keep =
      floats("zero", {}, {0}) + onnxNode("Greater", {"c", "zero"}, "", "g");
  for (const char *length : {"M", "N", "2"})
    check({{{"x", {"B", "N"}}, {"c", {length}}},
           keep + onnxNode("Compress", {"x", "g"}, intAttr("axis", 1))});
  check({{{"x", {"N", "M"}}, {"c", {"K"}}},
         keep + onnxNode("Compress", {"x", "g"})});
  std::string sign = onnxNode("Sign", {"x"}, "", "s");
  for (int64_t sorted : {0, 1})
    for (int64_t axis : {-1, 0, 1}) {
      std::string attrs = intAttr("sorted", sorted);
      if (axis >= 0)
        attrs += intAttr("axis", axis);
      check({{{"x", {"N", "M"}}},
             sign +
                 "node { op_type: \"Unique\" input: \"s\" output: \"y\" "
                 "output: \"i\" output: \"v\" output: \"n\" " +
                 attrs + "} ",
             18,
             "output { name: \"y\" } output { name: \"i\" } output { name: "
             "\"v\" } output { name: \"n\" } "});
    }
}

TEST(OpenIndexing, SuppressedBoxes) {
  std::string values = floats("overlap", {1}, {0.2f}) +
                       floats("threshold", {1}, {-0.5f}) + int64s("two", {2}) +
                       onnxNode("Shape", {"v"}, "", "n");
  for (const char *most : {"two", "n"})
    check({{{"b", {"B", "N", "4"}}, {"s", {"B", "M", "N"}}, {"v", {"M"}}},
           values + onnxNode("NonMaxSuppression",
                             {"b", "s", most, "overlap", "threshold"})});
  check({{{"b", {"1", "N", "4"}}, {"s", {"1", "2", "N"}}},
         values.substr(0, values.find("node")) +
             onnxNode("NonMaxSuppression", {"b", "s", "two", "overlap"})});
}

TEST(OpenIndexing, PixelsOfBoxes) {
  std::string bins = intAttr("output_height", 2) + intAttr("output_width", 3) +
                     floatAttr("spatial_scale", 4);
  std::string batch = makeIndices("i", 1, "n", /*isNegative=*/false);
  for (int64_t samples : {0, 2}) {
    std::string attrs = bins + intAttr("sampling_ratio", samples);
    check({{{"x", {"B", "M", "5", "6"}}, {"b", {"K", "4"}}, {"i", {"K"}}},
           batch + onnxNode("RoiAlign", {"x", "b", "n"}, attrs)});
    EXPECT_NE(
        importError(
            {{{"x", {"1", "2", "N", "6"}}, {"b", {"3", "4"}}, {"i", {"3"}}},
             batch + onnxNode("RoiAlign", {"x", "b", "n"}, attrs)})
            .find("dimension 2 of input 0, and places of pixels are "
                  "clamped to it; accepted: such extents of the batch, "
                  "the channels and the points"),
        std::string::npos);
  }
  check({{{"x", {"B", "M", "5", "6"}}, {"b", {"K", "5"}}},
         onnxNode("Abs", {"b"}, "", "a") +
             onnxNode("MaxRoiPool", {"x", "a"},
                      intsAttr("pooled_shape", {2, 2}) +
                          floatAttr("spatial_scale", 4))});
}

TEST(OpenIndexing, Samples) {
  for (const char *mode : {"linear", "nearest", "cubic"})
    check({{{"x", {"B", "M", "4", "5"}}, {"g", {"B", "N", "K", "2"}}},
           onnxNode("GridSample", {"x", "g"},
                    stringAttr("mode", mode) +
                        stringAttr("padding_mode", "reflection")),
           20});
  for (const char *number : {"B", "2"})
    check({{{"x", {number, "2", "3"}}, {"v", {"B", "3"}}},
           int64s("shape", {2, 3, 4}) +
               onnxNode("Shape", {"x"}, intAttr("end", 1), "n") +
               onnxNode("Neg", {"v"}, "", "unused") +
               onnxNode("Concat", {"n", "shape"}, intAttr("axis", 0), "size") +
               onnxNode("AffineGrid", {"x", "size"}),
           20});
  std::vector<float> weights(3 * 2 * 2 * 2);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = float(i % 5) - 2;
  check({{{"x", {"B", "2", "5", "5"}},
          {"o", {"B", "8", "4", "4"}},
          {"m", {"B", "4", "4", "4"}}},
         floats("w", {3, 2, 2, 2}, weights) +
             onnxNode("DeformConv", {"x", "w", "o", "", "m"}),
         19});
}

TEST(OpenIndexing, Terms) {
  std::string attrs = intAttr("min_gram_length", 1) +
                      intAttr("max_gram_length", 2) +
                      intAttr("max_skip_count", 2) + stringAttr("mode", "TF") +
                      intsAttr("ngram_counts", {0, 2}) +
                      intsAttr("ngram_indexes", {0, 1, 3, 2}) +
                      intsAttr("pool_int64s", {0, 1, 1, -1, 0, 0});
  std::string text = makeIndices("x", 2, "t");
  check(
      {{{"x", {"B", "N"}}}, text + onnxNode("TfIdfVectorizer", {"t"}, attrs)});
  check({{{"x", {"N"}}}, text + onnxNode("TfIdfVectorizer", {"t"}, attrs)});
}

TEST(OpenIndexing, Sequences) {
  auto construct = [](std::vector<std::string> parts) {
    return onnxNode("SequenceConstruct", std::move(parts), "", "q");
  };
  check({{{"x", {"N", "B"}}, {"m", {"M", "B"}}},
         construct({"x", "m"}) +
             onnxNode("ConcatFromSequence", {"q"}, intAttr("axis", 0))});
  check({{{"x", {"N", "B"}}},
         onnxNode("Neg", {"x"}, "", "n") + construct({"x", "n"}) +
             onnxNode("ConcatFromSequence", {"q"},
                      intAttr("axis", 1) + intAttr("new_axis", 1))});
  check({{{"x", {"N", "4"}}},
         int64s("parts", {1, 3}) +
             onnxNode("SplitToSequence", {"x", "parts"}, intAttr("axis", 1),
                      "q") +
             "initializer { name: \"at\" data_type: 7 int64_data: 1 } " +
             onnxNode("SequenceAt", {"q", "at"})});
  // Each element is an output.
  check({{{"x", {"N", "B"}}, {"m", {"M", "2"}}},
         onnxNode("NonZero", {"x"}, "", "f") +
             onnxNode("Cast", {"f"}, intAttr("to", 1), "found") +
             onnxNode("SequenceConstruct", {"x", "m", "found"})});
  check({{{"x", {"N", "B"}}, {"m", {"M", "2"}}},
         construct({"x", "m"}) +
             onnxNode("SequenceMap", {"q"},
                      "attribute { name: \"body\" type: GRAPH g { name: \"b\" "
                      "node { op_type: \"Neg\" input: \"e\" output: \"o\" } "
                      "input { name: \"e\" } output { name: \"o\" } } } ")});
  // Both branches compute what no run decides.
  std::string branches;
  for (const char *name : {"then", "else"})
    branches +=
        std::string("attribute { name: \"") + name +
        "_branch\" type: GRAPH g { name: \"b\" " +
        onnxNode("SequenceConstruct", {"x"}, "", std::string(name) + ".q") +
        "output { name: \"" + name + ".q\" } } } ";
  EXPECT_NE(importError({{{"x", {"N", "4"}}, {"c", {}}},
                         floats("zero", {}, {0}) +
                             onnxNode("Greater", {"c", "zero"}, "", "g") +
                             onnxNode("If", {"g"}, branches)})
                .find("the extent of dimension 0 of the output 'then.q' of the "
                      "graph 'b' is known only when the model runs"),
            std::string::npos);
  EXPECT_NE(
      importError({{{"x", {"N", "4"}}}, onnxNode("SplitToSequence", {"x"})})
          .find("it is split; accepted: such extents of other"),
      std::string::npos);
}

TEST(OpenIndexing, Losses) {
  std::string target = makeIndices("t", 3, "i", /*isNegative=*/false);
  for (const char *reduction : {"none", "sum", "mean"})
    for (bool isIgnored : {false, true})
      for (bool isWeighted : {false, true}) {
        std::string attrs = stringAttr("reduction", reduction);
        if (isIgnored)
          attrs += intAttr("ignore_index", 1);
        std::vector<std::string> inputs = {"x", "i"};
        if (isWeighted)
          inputs.push_back("w");
        for (const char *type :
             {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
          check({{{"x", {"N", "3", "M"}}, {"t", {"N", "M"}}},
                 floats("w", {3}, {1, 2, 3}) + target +
                     onnxNode(type, inputs, attrs)});
      }
}

TEST(OpenIndexing, RemovedOperators) {
  check({{{"x", {"B", "2", "N", "M"}}},
         onnxNode("ImageScaler", {"x"},
                  floatAttr("scale", 2) +
                      "attribute { name: \"bias\" type: FLOATS floats: 1 "
                      "floats: 2 } "),
         1});
  check({{{"x", {"B", "2", "N", "M"}}},
         onnxNode("Affine", {"x"}, floatAttr("alpha", 2)),
         1});
  check({{{"x", {"B", "2", "N", "6"}}},
         onnxNode("Crop", {"x"}, intsAttr("border", {1, 1, 2, 0})),
         1});
  EXPECT_NE(
      importError({{{"x", {"B", "2", "N", "6"}}},
                   onnxNode("Crop", {"x"}, intsAttr("border", {1, 1, 2, 1})),
                   1})
          .find("its end is cropped; accepted: a border of 0"),
      std::string::npos);
  check({{{"x", {"1", "N", "2"}}, {"g", {"1", "N", "6"}}, {"l", {"N"}}},
         floats("number", {1}, {0}) +
             onnxNode("GRUUnit", {"x", "g", "l", "number"}),
         1});
}

/// Ends that the main graph knows.
TEST(OpenIndexing, Branches) {
  auto branch = [](const std::string &name, const std::string &nodes) {
    return "attribute { name: \"" + name +
           "_branch\" type: GRAPH g { name: \"" + name + "\" " + nodes +
           onnxNode("ReduceSum", {name}, intAttr("keepdims", 0), name + ".y") +
           "output { name: \"" + name + ".y\" } } } ";
  };
  check({{{"x", {"N", "M"}}, {"k", {"K", "M"}}, {"u", {"K", "M"}}, {"c", {}}},
         makeIndices("k", 3, "i") + floats("zero", {}, {0}) +
             int64s("last", {-1, -2}) +
             onnxNode("Greater", {"c", "zero"}, "", "condition") +
             onnxNode("If", {"condition"},
                      branch("then",
                             onnxNode("ScatterElements", {"x", "i", "u"},
                                      stringAttr("reduction", "add"), "then")) +
                          branch("else",
                                 onnxNode("Gather", {"x", "last"}, "", "rows") +
                                     onnxNode("Concat", {"x", "rows", "k"},
                                              intAttr("axis", 0), "else")))});
}

TEST(OpenIndexing, QuantizedTables) {
  std::string data = "initializer { name: \"t\" data_type: 2 dims: 6 dims: 16";
  std::string scales = "initializer { name: \"s\" data_type: 1 dims: 6 dims: 2";
  for (int64_t i = 0; i < 96; ++i)
    data += " int32_data: " + std::to_string(i * 37 % 256);
  for (int64_t i = 0; i < 12; ++i)
    scales += " float_data: " + std::to_string(0.5 + 0.1 * double(i));
  check({{{"k", {"N", "M"}}},
         data + " } " + scales + " } " + makeIndices("k", 6, "i") +
             onnxNode("GatherBlockQuantized", {"t", "i", "s"},
                      "domain: \"com.microsoft\" " + intAttr("block_size", 16) +
                          intAttr("quantize_axis", 1))});
}
