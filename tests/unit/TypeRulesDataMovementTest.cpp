//===- TypeRulesDataMovementTest.cpp - Type rules of data movement --------===//

#include "InferTypes.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

constexpr const char *perTensor = "int8q<2x3, scale 0.5 offset 1>";
constexpr const char *perAxis =
    "int8q<2x3, axis 1 scale [0.5, 0.25, 2] offset [1, 0, -1]>";

//===- Concat -------------------------------------------------------------===//

TEST(TypeRules, Concat) {
  EXPECT_TYPE("Concat(float<3x7>, float<3x1>, float<3x0>) {axis = 1}",
              "float<3x8>");
  EXPECT_TYPE("Concat(bool<1>) {axis = 0}", "bool<1>");
  EXPECT_TYPE(llvm::Twine("Concat(") + perTensor + ", " + perTensor +
                  ") {axis = 0}",
              "int8q<4x3, scale 0.5 offset 1>");
  EXPECT_TYPE("Concat() {axis = 0}", "at least one input is needed");
  EXPECT_TYPE("Concat(float<>) {axis = 0}",
              "attribute 'axis': 0 is not a dimension of rank 0");
  EXPECT_TYPE("Concat(float<3x7>, float<2x7>) {axis = 1}",
              "operand 'inputs[1]' (float<2x7>): expected extent 3 in "
              "dimension 0");
  EXPECT_TYPE("Concat(float<3x7>, float<3x7>, float<3>) {axis = 1}",
              "operand 'inputs[2]' (float<3>): expected rank 2");
  EXPECT_TYPE("Concat(float<3>, int8<3>) {axis = 0}",
              "operand 'inputs[1]' (int8<3>): expected kind float");
  EXPECT_TYPE(llvm::Twine("Concat(") + perTensor +
                  ", int8q<2x3, scale 0.25 offset 1>) {axis = 0}",
              "operand 'inputs[1]' (int8q<2x3, scale 0.25 offset 1>): expected "
              "scale and offset of int8q<2x3, scale 0.5 offset 1>");
  EXPECT_TYPE(llvm::Twine("Concat(") + perAxis + ") {axis = 0}",
              std::string("operand 'inputs[0]' (") + perAxis +
                  "): expected one scale for the whole tensor");
  // The parts are just small enough, the whole is not.
  EXPECT_TYPE("Concat(int8<1099511627776>, int8<1099511627776>) {axis = 0}",
              "a tensor of kind int8 and shape 2199023255552 is larger than "
              "1099511627776 bytes");
}

//===- Slice --------------------------------------------------------------===//

std::string slice(llvm::StringRef type, llvm::StringRef starts,
                  llvm::StringRef sizes, llvm::StringRef steps) {
  return infer("Slice(" + type + ") {starts = " + starts +
               ", sizes = " + sizes + ", steps = " + steps + "}");
}

TEST(TypeRules, SliceInside) {
  EXPECT_EQ(slice("float<7x17>", "[1, 16]", "[3, 17]", "[2, -1]"),
            "float<3x17>");
  EXPECT_EQ(slice("float<7>", "[6]", "[1]", "[1000]"), "float<1>");
  EXPECT_EQ(slice("float<7>", "[7]", "[0]", "[1]"), "float<0>");
  EXPECT_EQ(slice("float<0>", "[0]", "[0]", "[-1]"), "float<0>");
  EXPECT_EQ(slice("bool<>", "[]", "[]", "[]"), "bool<>");
  EXPECT_EQ(slice(perTensor, "[1, 0]", "[1, 2]", "[1, 2]"),
            "int8q<1x2, scale 0.5 offset 1>");
  // Scales go with their channels.
  EXPECT_EQ(slice(perAxis, "[0, 2]", "[1, 2]", "[1, -2]"),
            "int8q<1x2, axis 1 scale [2, 0.5] offset [-1, 1]>");
}

TEST(TypeRules, SliceOutside) {
  EXPECT_EQ(slice("float<7>", "[-1]", "[1]", "[1]"),
            "operand 'input' (float<7>): first index -1 of dimension 0 is "
            "outside");
  EXPECT_EQ(slice("float<7>", "[7]", "[1]", "[1]"),
            "operand 'input' (float<7>): first index 7 of dimension 0 is "
            "outside");
  EXPECT_EQ(slice("float<7>", "[8]", "[0]", "[1]"),
            "operand 'input' (float<7>): first index 8 of dimension 0 is "
            "outside");
  EXPECT_EQ(slice("float<7>", "[1]", "[4]", "[2]"),
            "operand 'input' (float<7>): last index 7 of dimension 0 is "
            "outside");
  EXPECT_EQ(slice("float<3x7>", "[0, 5]", "[3, 4]", "[1, -2]"),
            "operand 'input' (float<3x7>): last index -1 of dimension 1 is "
            "outside");
  EXPECT_EQ(slice("float<7>", "[0]", "[3]", "[0]"),
            "attribute 'steps': 0 in dimension 0");
  EXPECT_EQ(slice("float<7>", "[0]", "[-3]", "[1]"),
            "attribute 'sizes': -3 is less than 0");
  EXPECT_EQ(slice("float<7>", "[0, 0]", "[1]", "[1]"),
            "attribute 'starts': expected 1 value, got 2");
  EXPECT_EQ(slice("float<7>", "[0]", "[]", "[1]"),
            "attribute 'sizes': expected 1 value, got 0");
  EXPECT_EQ(slice("float<7x2>", "[0, 0]", "[1, 1]", "[1]"),
            "attribute 'steps': expected 2 values, got 1");
}

TEST(TypeRules, SliceOverflow) {
  EXPECT_EQ(slice("float<7>", "[1]", "[9223372036854775807]", "[2]"),
            "attribute 'sizes': 9223372036854775807 in dimension 0 is too "
            "large");
  EXPECT_EQ(slice("float<7>", "[1]", "[3]", "[9223372036854775807]"),
            "attribute 'sizes': 3 in dimension 0 is too large");
  EXPECT_EQ(
      slice("float<7x3>", "[1, 0]", "[1, 3]", "[-9223372036854775808, 1]"),
      "attribute 'steps': -9223372036854775808 in dimension 0 is too "
      "large");
}

//===- Transpose and reshape ----------------------------------------------===//

TEST(TypeRules, Transpose) {
  EXPECT_TYPE("Transpose(float<3x7x0>) {permutation = [2, 0, 1]}",
              "float<0x3x7>");
  EXPECT_TYPE("Transpose(float<>) {permutation = []}", "float<>");
  EXPECT_TYPE(llvm::Twine("Transpose(") + perAxis + ") {permutation = [1, 0]}",
              "int8q<3x2, axis 0 scale [0.5, 0.25, 2] offset [1, 0, -1]>");
  EXPECT_TYPE("Transpose(float<3x7>) {permutation = [1]}",
              "attribute 'permutation': expected 2 values, got 1");
  EXPECT_TYPE("Transpose(float<3x7>) {permutation = [1, 1]}",
              "attribute 'permutation': 1 comes twice");
  EXPECT_TYPE("Transpose(float<3x7>) {permutation = [2, 0]}",
              "attribute 'permutation': 2 is not a dimension of rank 2");
  EXPECT_TYPE("Transpose(float<3x7>) {permutation = [-1, 0]}",
              "attribute 'permutation': -1 is not a dimension of rank 2");
}

TEST(TypeRules, Reshape) {
  EXPECT_TYPE("Reshape(float<3x7>) {shape = [7, 1, 3]}", "float<7x1x3>");
  EXPECT_TYPE("Reshape(int8<1x1>) {shape = []}", "int8<>");
  EXPECT_TYPE("Reshape(float<3x0>) {shape = [17, 0, 5]}", "float<17x0x5>");
  EXPECT_TYPE(llvm::Twine("Reshape(") + perTensor + ") {shape = [6]}",
              "int8q<6, scale 0.5 offset 1>");
  EXPECT_TYPE("Reshape(float<3x7>) {shape = [22]}",
              "attribute 'shape': 22 has 22 elements, the input 21");
  EXPECT_TYPE("Reshape(float<3x7>) {shape = [-3, -7]}",
              "attribute 'shape': shape -3x-7 has a negative extent");
  EXPECT_TYPE("Reshape(float<0>) {shape = [0, 9223372036854775807]}",
              "attribute 'shape': a tensor of kind float and shape "
              "0x9223372036854775807 is larger than 1099511627776 bytes");
  EXPECT_TYPE(llvm::Twine("Reshape(") + perAxis + ") {shape = [6]}",
              std::string("operand 'input' (") + perAxis +
                  "): expected one scale for the whole tensor");
}

//===- Repetition ---------------------------------------------------------===//

TEST(TypeRules, Broadcast) {
  EXPECT_TYPE("Broadcast(float<3x1>) {shape = [7, 3, 17]}", "float<7x3x17>");
  EXPECT_TYPE("Broadcast(float<1>) {shape = [0]}", "float<0>");
  EXPECT_TYPE("Broadcast(bool<>) {shape = []}", "bool<>");
  EXPECT_TYPE("Broadcast(float<3>) {shape = [1]}",
              "operand 'input' (float<3>): does not broadcast to 1");
  EXPECT_TYPE("Broadcast(float<1x3>) {shape = [3]}",
              "operand 'input' (float<1x3>): does not broadcast to 3");
  EXPECT_TYPE("Broadcast(float<0>) {shape = [3]}",
              "operand 'input' (float<0>): does not broadcast to 3");
  EXPECT_TYPE(
      "Broadcast(float<1>) {shape = [1099511627776]}",
      "attribute 'shape': a tensor of kind float and shape 1099511627776 is "
      "larger than 1099511627776 bytes");
}

TEST(TypeRules, Tile) {
  EXPECT_TYPE("Tile(float<3x7>) {repeats = [1, 3]}", "float<3x21>");
  EXPECT_TYPE("Tile(float<3x7>) {repeats = [0, 3]}", "float<0x21>");
  EXPECT_TYPE("Tile(float<>) {repeats = []}", "float<>");
  EXPECT_TYPE("Tile(float<3x7>) {repeats = [2]}",
              "attribute 'repeats': expected 2 values, got 1");
  EXPECT_TYPE("Tile(float<3>) {repeats = [-1]}",
              "attribute 'repeats': -1 is less than 0");
  EXPECT_TYPE("Tile(float<3>) {repeats = [9223372036854775807]}",
              "attribute 'repeats': 9223372036854775807 in dimension 0 is too "
              "large");
  EXPECT_TYPE(
      "Tile(float<1>) {repeats = [9223372036854775807]}",
      "a tensor of kind float and shape 9223372036854775807 is larger than "
      "1099511627776 bytes");
}

//===- Pad ----------------------------------------------------------------===//

std::string pad(llvm::StringRef type, llvm::StringRef pads,
                llvm::StringRef mode, llvm::StringRef value = "0.0") {
  return infer("Pad(" + type + ") {pads = " + pads + ", mode = \"" + mode +
               "\", value = " + value + "}");
}

TEST(TypeRules, Pad) {
  EXPECT_EQ(pad("float<3x7>", "[1, -2, 0, 17]", "constant", "-inf"),
            "float<4x22>");
  EXPECT_EQ(pad("float<0>", "[3, 4]", "constant"), "float<7>");
  EXPECT_EQ(pad("float<3>", "[-1, -2]", "constant"), "float<0>");
  EXPECT_EQ(pad("float<3>", "[2, 2]", "reflect"), "float<7>");
  EXPECT_EQ(pad("float<0>", "[0, 0]", "reflect"), "float<0>");
  EXPECT_EQ(pad("float<1>", "[17, 0]", "edge"), "float<18>");
  EXPECT_EQ(pad("float<0>", "[0, 0]", "edge"), "float<0>");
  EXPECT_EQ(pad("float<>", "[]", "edge"), "float<>");
}

TEST(TypeRules, PadRefuses) {
  EXPECT_EQ(pad("float<3>", "[1]", "constant"),
            "attribute 'pads': expected 2 values, got 1");
  EXPECT_EQ(pad("float<3>", "[-2, -2]", "constant"),
            "attribute 'pads': -2 and -2 in dimension 0: they crop more than "
            "the extent 3");
  // What is added at one end does not replace what is missing at the other.
  EXPECT_EQ(pad("float<3>", "[-4, 4]", "constant"),
            "attribute 'pads': -4 and 4 in dimension 0: they crop more than "
            "the extent 3");
  EXPECT_EQ(pad("float<3>", "[3, 0]", "reflect"),
            "attribute 'pads': 3 and 0 in dimension 0: extent 3 is too small "
            "for mode reflect");
  EXPECT_EQ(pad("float<0>", "[0, 1]", "edge"),
            "attribute 'pads': 0 and 1 in dimension 0: extent 0 is too small "
            "for mode edge");
  EXPECT_EQ(pad("float<3>", "[-1, 0]", "edge"),
            "attribute 'pads': -1 and 0 in dimension 0: only mode constant "
            "takes negative pads");
  EXPECT_EQ(pad("int8<3>", "[1, 0]", "constant", "0.5"),
            "attribute 'value': 0.5 is not a value of kind int8");
  EXPECT_EQ(pad("float<3>", "[1, 0]", "wrap"),
            "attribute 'mode': 'wrap' is not one of constant, reflect, edge");
  EXPECT_EQ(pad("float<3>", "[9223372036854775807, 1]", "constant"),
            "attribute 'pads': 9223372036854775807 and 1 in dimension 0: the "
            "result is too large");
  EXPECT_EQ(pad("float<3>", "[-9223372036854775808, -1]", "constant"),
            "attribute 'pads': -9223372036854775808 and -1 in dimension 0: "
            "they crop more than the extent 3");
}

//===- Gather -------------------------------------------------------------===//

TEST(TypeRules, Gather) {
  EXPECT_TYPE("Gather(float<3x7x17>, int64<2x5>) {axis = 1}",
              "float<3x2x5x17>");
  EXPECT_TYPE("Gather(bool<3>, int32<>) {axis = 0}", "bool<>");
  EXPECT_TYPE("Gather(float<0x3>, int64<0>) {axis = 0}", "float<0x3>");
  EXPECT_TYPE("Gather(float<0x0>, int64<5>) {axis = 0}", "float<5x0>");
  EXPECT_TYPE("Gather(float<0x3>, int64<1>) {axis = 0}",
              "operand 'input' (float<0x3>): there is nothing to pick along "
              "dimension 0");
  EXPECT_TYPE("Gather(float<3>, uint8<1>) {axis = 0}",
              "operand 'indices' (uint8<1>): expected int32 or int64");
  EXPECT_TYPE("Gather(float<3>, int64<1>) {axis = 1}",
              "attribute 'axis': 1 is not a dimension of rank 1");
  EXPECT_TYPE("Gather(float<1x1048576>, int64<1048576>) {axis = 0}",
              "a tensor of kind float and shape 1048576x1048576 is larger than "
              "1099511627776 bytes");
}

} // namespace
