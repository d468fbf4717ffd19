//===- Caffe2ExtentListsTest.cpp - Caffe2 lists whose runs decide lengths ===//

#include "Caffe2Extents.h"

using namespace glowish;
using namespace glowish::caffe2extents;

TEST(Caffe2Extents, Gathers) {
  std::string indices = "int32,[M]";
  check({netOp("Gather", {"d", "i"}, {"y"}),
         {{"i", indices}},
         weight("d", {6, 3})});
  check({netOp("Gather", {"x", "i"}, {"y"}),
         {{"x", "float,[L,3]"}, {"i", "int32,[N,M]"}}});
  check({netOp("BatchGather", {"x", "i"}, {"y"}),
         {{"x", "float,[N,L,3]"}, {"i", indices}}});
  check({netOp("GatherND", {"x", "i"}, {"y"}),
         {{"x", "float,[L,L,N]"}, {"i", "int64,[M,2]"}}});
  check({netOp("ScatterAssign", {"x", "i", "z"}, {"y"}),
         {{"x", "float,[L,N,2]"}, {"i", indices}, {"z", "float,[M,N,2]"}}});
  check({netOp("SparseToDense", {"i", "x", "z"}, {"y"}),
         {{"i", indices}, {"x", "float,[M,N,2]"}, {"z", "float,[L,2]"}}});
  check({netOp("FillExamplesWithIndicator", {"x", "z"}, {"y"}),
         {{"x", "float,[N,3]"}, {"z", "int32,[N]"}}});
  check({netOp("Embedding", {"d", "i"}, {"y"}, intArg("padIdx", 1)),
         {{"i", "int32,[N,M]"}},
         weight("d", {6, 3})});
}

TEST(Caffe2Extents, Lists) {
  std::string lengths = "int32,[N]", indices = "int64,[L]";
  std::string table = weight("d", {6, 3});
  using Inputs = std::vector<std::pair<std::string, std::string>>;
  Inputs lists = {{"i", indices}, {"ilengths", lengths}};
  Inputs weighted = {{"i", indices}, {"ilengths", lengths}, {"w", "float,[L]"}};
  check(
      {netOp("SparseLengthsSum", {"d", "i", "ilengths"}, {"y"}), lists, table});
  check({netOp("SparseLengthsWeightedSum", {"d", "w", "i", "ilengths"}, {"y"}),
         weighted, table});
  std::vector<int64_t> bytes(6 * 12);
  for (auto [i, byte] : llvm::enumerate(bytes))
    byte = i % 12 < 8 || i % 4 < 3 ? int64_t(i * 5 % 100) : 62;
  std::string fused =
      netOp("GivenTensorIntFill", {}, {"c"},
            intsArg("shape", {6, 12}) + intsArg("values", bytes)) +
      netOp("Cast", {"c"}, {"d"}, stringArg("to", "uint8"));
  for (const char *width : {"4", "8"}) {
    std::string form = std::string("Fused") + width + "BitRowwise";
    check({netOp("SparseLengthsSum" + form, {"d", "i", "ilengths"}, {"y"}),
           lists, fused});
    check({netOp("SparseLengthsWeightedSum" + form, {"d", "w", "i", "ilengths"},
                 {"y"}),
           weighted, fused});
  }
  check({netOp("SparseLengthsSum8BitsRowwise", {"d", "i", "ilengths", "s"},
               {"y"}),
         lists, fused + weight("s", {6, 2})});
  check({netOp("SparseLengthsWeightedSum8BitsRowwise",
               {"d", "w", "i", "ilengths", "s"}, {"y"}),
         weighted, fused + weight("s", {6, 2})});
  check({netOp("LengthsSum", {"x", "ilengths"}, {"y"}),
         {{"x", "float,[L,M,2]"}, {"ilengths", lengths}}});
  check(
      {netOp("LengthsToRanges", {"ilengths"}, {"y"}), {{"ilengths", lengths}}});
  check({netOp("LengthsRangeFill", {"ilengths"}, {"y"},
               intArg("maxOutputSize", 12)),
         {{"ilengths", lengths}}});
  check({netOp("BatchOneHot", {"x", "c", "z"}, {"y"}),
         {{"x", "int32,[N,2]"}, {"z", "int32,[5]"}},
         intFill("c", {2}, {2, 3}, "GivenTensorIntFill")});
  check(
      {netOp("BatchOneHot", {"x", "ilengths", "z"}, {"y"}),
       {{"x", "int32,[N,2]"}, {"ilengths", "int32,[2]"}, {"z", "int32,[L]"}}});
  check({netOp("EmbeddingBag", {"d", "w", "i", "o"}, {"y"}),
         {{"i", indices}, {"w", "float,[L]"}},
         table + intFill("o", {3}, {0, 2, 5})});
  check({netOp("EmbeddingBag", {"d", "w", "i", "ioffsets"}, {"y"}),
         {{"i", indices}, {"w", "float,[L]"}, {"ioffsets", "int64,[N]"}},
         table});
  check({netOp("GatherRanges", {"x", "iranges"}, {"y", "counts"},
               intArg("maxOutputSize", 64)),
         {{"x", "float,[L+4]"}, {"iranges", "int32,[N,2,2]"}},
         "",
         {"y", "counts"}});
  check(
      {netOp("SparseToDenseMask", {"i", "x", "f", "ilengths"}, {"y", "present"},
             intsArg("mask", {4, 1, 3}) + intArg("return_presence_mask", 1)),
       {{"i", indices}, {"x", "float,[L,2]"}, {"ilengths", lengths}},
       weight("f", {2}),
       {"y", "present"}});
  check({netOp("SparseToDenseMask", {"i", "x", "f"}, {"y"},
               intsArg("mask", {4, 1, 3})),
         {{"i", indices}, {"x", "float,[L,2]"}},
         weight("f", {2})});
  check({netOp("BatchSparseToDense", {"ilengths", "iplaces", "x"}, {"y"},
               intArg("dense_last_dim", 9)),
         {{"ilengths", lengths}, {"iplaces", indices}, {"x", "float,[L]"}}});
  check({netOp("BatchSparseToDense", {"ilengths", "iplaces", "x", "z"}, {"y"},
               floatArg("default_value", 0.5)),
         {{"ilengths", lengths},
          {"iplaces", indices},
          {"x", "float,[L]"},
          {"z", "float,[N,M+4]"}}});
  check({netOp("SparseLabelSplit", {"ilengths", "l", "x"},
               {"y", "z", "yy", "zz"}, intArg("num_labels", 2)),
         {{"ilengths", lengths}, {"x", "float,[6]"}},
         intFill("l", {6}, {0, 1, 1, 0, 1, 0}),
         {"y", "z", "yy", "zz"}});
}
