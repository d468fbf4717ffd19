//===- FusionRemarksTest.cpp - Why loops are not fused --------------------===//
//
// Each missedFusion of both fusing passes is named by its reason, and the pass
// does what the reason says: without one it fuses, with one it leaves the loop.
//
//===----------------------------------------------------------------------===//

#include "glowish/IR/FusionRemarks.h"
#include "IRHelpers.h"

using namespace glowish;
using namespace glowish::test;

namespace {

/// A program with "w", "v" and "x" to read, "out" and "more" to write, and the
/// activation "a", of which \p views may be declared.
std::string makeProgram(llvm::StringRef views, llvm::StringRef code) {
  return ("ir \"f\" {\n"
          "  mutable %x : float<3x7> input output \"x\"\n"
          "  constant %w : float<7x2> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
          "12, 13, 14]\n"
          "  constant %v : float<3x2> = [1, 2, 3, 4, 5, 6]\n"
          "  mutable %out : float<3x2> output \"out\"\n"
          "  mutable %more : float<3x2> output \"more\"\n"
          "  activation %a : float<3x2>\n" +
          views + "  code {\n    Alloc(@out %a)\n" + code +
          "    Dealloc(@out %a)\n  }\n}\n")
      .str();
}

/// What keeps the loop called "reader" from the instruction "producer": all
/// missedFusions, "fused" where \p pass fuses it and "none" without a producer.
std::string explain(llvm::StringRef pass, llvm::StringRef views,
                    llvm::StringRef code) {
  std::unique_ptr<IRFunction> function = parse(makeProgram(views, code));
  if (!function)
    return "";
  std::string before = print(*function);
  std::string reasons = "none";
  bool canFuse = false;
  for (const UnfusedLoop &lone : findUnfusedLoops(*function)) {
    if (lone.loop->getName() != "reader")
      continue;
    for (const MissedFusion &missedFusion : lone.missedFusions) {
      EXPECT_EQ(missedFusion.producer->getName(), "producer");
      reasons =
          missedFusion.reason.empty() ? "fused" : missedFusion.reason.str();
      canFuse |= missedFusion.reason.empty();
    }
  }
  EXPECT_EQ(print(*function), before);
  runPass(*function, pass);
  auto hasInstr = [&](llvm::StringRef name) {
    return llvm::any_of(function->getInstrs(), [&](const Instruction &instr) {
      return instr.getName() == name;
    });
  };
  bool isFused = !hasInstr("producer") || !hasInstr("reader");
  EXPECT_EQ(isFused, canFuse || reasons == "none");
  return reasons;
}

std::string explainEpilogue(llvm::StringRef code, llvm::StringRef views = "") {
  return explain("fuse-epilogues", views, code);
}
std::string explainLoops(llvm::StringRef code, llvm::StringRef views = "") {
  return explain("fuse-loops", views, code);
}

#define MATMUL "    \"producer\" MatMul(@out %a, @in %x, @in %w)\n"
#define RELU(OUT, IN)                                                          \
  "    \"reader\" ElementWiseLoop(@out %" OUT ", @in %" IN                     \
  ") {program = {v1:float = Relu(v0)}}\n"

TEST(FusionRemarks, EpilogueIsFused) {
  EXPECT_EQ(explainEpilogue(MATMUL RELU("out", "a")), "fused");
}

TEST(FusionRemarks, NothingToJoin) {
  EXPECT_EQ(
      explainEpilogue("    Fill(@out %a) {value = 1.0}\n" RELU("out", "a")),
      "none");
}

TEST(FusionRemarks, OtherReader) {
  EXPECT_EQ(
      explainEpilogue(MATMUL RELU("out", "a") "    Copy(@out %more, @in %a)\n"),
      "another instruction reads its result, too");
}

TEST(FusionRemarks, ResultIsWrittenOver) {
  EXPECT_EQ(explainEpilogue(
                MATMUL "    Fill(@out %a) {value = 1.0}\n" RELU("out", "a")),
            "its result is written over later");
}

TEST(FusionRemarks, PartOfTheResult) {
  EXPECT_EQ(explainEpilogue(MATMUL RELU("row", "part"),
                            "  view %part = %a offset 2 strides [2, 1] : "
                            "float<1x2>\n  view %row = %out offset 0 strides "
                            "[2, 1] : float<1x2>\n"),
            "the loop reads a part of its result");
}

TEST(FusionRemarks, PartOfABuffer) {
  EXPECT_EQ(explainEpilogue(
                "    Alloc(@out %b)\n    \"producer\" MatMul(@out %part, @in "
                "%x, @in %w)\n" RELU("whole", "b") "    Dealloc(@out %b)\n",
                "  activation %b : float<4x2>\n  view %part = %b offset 0 "
                "strides [2, 1] : float<3x2>\n  mutable %whole : float<4x2> "
                "output \"whole\"\n"),
            "its result is a part of a larger buffer");
}

TEST(FusionRemarks, InputIsWrittenOver) {
  EXPECT_EQ(explainEpilogue(
                MATMUL "    Fill(@out %x) {value = 1.0}\n" RELU("out", "a")),
            "what it reads is written over before the loop runs");
}

TEST(FusionRemarks, OtherLayout) {
  EXPECT_EQ(explainEpilogue(
                MATMUL "    \"reader\" ElementWiseLoop(@out %out, @in %a, @in "
                       "%turned) {program = {v2:float = Add(v0, v1)}}\n",
                "  view %turned = %v offset 0 strides [1, 3] : float<3x2>\n"),
            "it can't read another input as that lies in memory");
  EXPECT_EQ(explainEpilogue(
                MATMUL "    \"reader\" ElementWiseLoop(@out %turned, @in %a) "
                       "{program = {v1:float = Relu(v0)}}\n",
                "  mutable %t : float<2x3> output \"t\"\n  view %turned = %t "
                "offset 0 strides [1, 3] : float<3x2>\n"),
            "it can't write the loop's result as that lies in memory");
}

TEST(FusionRemarks, TooManyInputs) {
  std::string operands, inputs, program = "v8:float = Add(v0, v1)";
  for (unsigned i = 0; i < 7; ++i) {
    std::string name = "more" + std::to_string(i);
    operands += ", @in %" + name;
    inputs += "  mutable %" + name + " : float<3x2> input \"" + name + "\"\n";
    if (i)
      program += "; v" + std::to_string(8 + i) + ":float = Add(v" +
                 std::to_string(7 + i) + ", v" + std::to_string(1 + i) + ")";
  }
  EXPECT_EQ(explainEpilogue(MATMUL "    \"reader\" ElementWiseLoop(@out %out, "
                                   "@in %a" +
                                operands + ") {program = {" + program + "}}\n",
                            inputs),
            "the epilogue would have too many inputs");
}

TEST(FusionRemarks, TooManySteps) {
  std::string program = "v1:float = Relu(v0)";
  for (unsigned i = 1; i < 33; ++i)
    program += "; v" + std::to_string(i + 1) + ":float = Neg(v" +
               std::to_string(i) + ")";
  EXPECT_EQ(explainEpilogue(MATMUL "    \"reader\" ElementWiseLoop(@out %out, "
                                   "@in %a) {program = {" +
                            program + "}}\n"),
            "the epilogue would have too many steps");
}

#define PRODUCER(OP)                                                           \
  "    \"producer\" ElementWiseLoop(@out %a, @in %v) {program = {v1:float "    \
  "= " OP "(v0)}}\n"

TEST(FusionRemarks, LoopIsFused) {
  EXPECT_EQ(explainLoops(PRODUCER("Tanh") RELU("out", "a")), "fused");
}

TEST(FusionRemarks, ReaderThatIsNoLoop) {
  EXPECT_EQ(explainLoops(PRODUCER("Tanh")
                             RELU("out", "a") "    Softmax(@out %more, @in %a) "
                                              "{axis = 1}\n"),
            "an instruction that is no loop reads its result, too");
}

TEST(FusionRemarks, ComputedAgain) {
  EXPECT_EQ(explainLoops(PRODUCER("Tanh") RELU("out", "a") RELU("more", "a")),
            "several loops read its result, and computing it again is more "
            "work than loading it");
  EXPECT_EQ(explainLoops(PRODUCER("Neg") RELU("out", "a") RELU("more", "a")),
            "fused");
}

TEST(FusionRemarks, LoopInputIsWrittenOver) {
  EXPECT_EQ(
      explainLoops("    \"producer\" ElementWiseLoop(@out %a, @in %y) {program "
                   "= {v1:float = Tanh(v0)}}\n    Fill(@out %y) {value = "
                   "1.0}\n" RELU("out", "a"),
                   "  mutable %y : float<3x2> input output \"y\"\n"),
      "what it reads is written over before the loop has run");
}

TEST(FusionRemarks, RepeatedElements) {
  EXPECT_EQ(explainLoops(PRODUCER("Tanh") RELU("many", "rows"),
                         "  mutable %many : float<9x3x2> output \"many\"\n  "
                         "view %rows = %a offset 0 strides [0, 2, 1] : "
                         "float<9x3x2>\n"),
            "its elements would be computed more than once");
}

} // namespace
