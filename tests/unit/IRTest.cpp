//===- IRTest.cpp - The IR's text form, verifier and containers -----------===//

#include "IRHelpers.h"
#include "gmock/gmock.h"

using namespace glowish;
using namespace glowish::test;
using ::testing::HasSubstr;

namespace {

/// Every kind of buffer, operand and attribute.
constexpr llvm::StringLiteral sample = R"(ir "sample net" {
  constant %w : float<3x1x1x2> = [1.0, -2.5, 1e-05, inf, -0.0, 3.0]
  constant %none : int64<0> = []
  mutable %data : float<1x3x5x2> input "in/put:0"
  mutable %state : float<7> input output "state"
  mutable %kept : bool<> "kept"
  mutable %out : float<1x3x5x3> output "out \"quoted\" \n"
  activation %"a/1" : float<1x3x5x3>
  view %v = %"a/1" offset 44 strides [-45, -15, -3, -1] : float<1x3x5x3>
  view %last = %state offset 6 strides [] : float<>
  activation %q : int8q<4x4, scale 0.5 offset 3>
  code {
    Alloc(@out %"a/1")
    "conv" Convolution(@out %"a/1", @in %data, @in %w, none, @in %out) {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1, epilogue = {v2:float = Add(v0, v1); v3:float = Clip(v2) <0.0, 6.0>}}
    Copy(@out %out, @in %v)
    Dealloc(@out %"a/1")
    "a b" Fill(@out %last) {value = 0.1}
    Fill(@out %kept) {value = 1.0}
  }
}
)";

//===- Text ---------------------------------------------------------------===//

TEST(IRText, PrintsWhatItParsed) {
  auto function = parse(sample);
  ASSERT_TRUE(function);
  EXPECT_EQ(print(*function), sample.str());
  EXPECT_EQ(function->getName(), "sample net");
  EXPECT_EQ(function->findBuffer("out")->getModelName(), "out \"quoted\" \n");
  const Instruction &conv = *std::next(function->getInstrs().begin());
  EXPECT_EQ(conv.getName(), "conv");
  EXPECT_EQ(conv.getNumProgramInputs(), 2u);
  EXPECT_EQ(conv.getOperand(3), nullptr);
}

TEST(IRText, LargeConstantsGoToTheSideFile) {
  IRFunction function("f");
  auto payload = std::make_shared<Tensor>(Type(ElemKind::Double, {3, 17}));
  for (int64_t i = 0; i < 51; ++i)
    payload->setFromDouble(i, 1.0 / double(i));
  function.createConstant("first", payload);
  function.createConstant("second", payload);
  std::string text, bytes, again, bytesAgain;
  llvm::raw_string_ostream os(text), side(bytes), osAgain(again),
      sideAgain(bytesAgain);
  printIR(os, function, &side);
  auto parsed =
      parseIR(text, "f.ir", llvm::MemoryBuffer::getMemBuffer(bytes, "", false));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  EXPECT_TRUE(
      (*parsed)->findBuffer("second")->getTensor().isBitwiseEqual(*payload));
  printIR(osAgain, **parsed, &sideAgain);
  EXPECT_EQ(text, again);
  EXPECT_EQ(bytes, bytesAgain);
  EXPECT_THAT(parseError(print(function)), HasSubstr("elided"));
}

struct ErrorCase {
  const char *text;
  const char *message;
};

TEST(IRText, ErrorsSayWhereAndWhat) {
  const ErrorCase cases[] = {
      {"", "test.ir:1:1: expected 'ir'"},
      {"ir \"f\" {\n  weight %x : float<1>\n", "test.ir:2:3: expected 'const"},
      {"ir \"f\" {\n activation %x : float<1>\n activation %x : float<1>\n",
       "test.ir:3:13: the name 'x' is taken"},
      {"ir \"f\" {\n view %v = %x offset 0 strides [] : float<>\n",
       "test.ir:2:12: there is no buffer '%x'"},
      {"ir \"f\" {\n activation %x : float<4>\n"
       " view %v = %x offset 0 strides [1] : float<2x2>\n",
       "test.ir:3:12: a view has one stride a dimension"},
      {"ir \"f\" {\n activation %x : float<4>\n"
       " view %v = %x offset 0 strides [1] : int32<2>\n",
       "test.ir:3:12: a view has its buffer's element kind"},
      {"ir \"f\" {\n activation %x : float<4>\n"
       " view %v = %x offset 0 strides [1] : float<2>\n"
       " view %u = %v offset 0 strides [1] : float<2>\n",
       "test.ir:4:12: '%v' is a view itself"},
      {"ir \"f\" {\n code {\n  \"n\" Nonsense()\n",
       "test.ir:3:7: there is no instruction 'Nonsense'"},
      {"ir \"f\" {\n mutable %x : float<4> \"x\"\n code {\n"
       "  Fill(@in %x) {value = 0.0}\n",
       "test.ir:4:9: expected 'out'"},
      {"ir \"f\" {\n mutable %x : float<4> \"x\"\n code {\n"
       "  \"fill\" Fill(@out %x, @out %x) {value = 0.0}\n",
       "test.ir:4:3: Fill: "},
      {"ir \"f\" {\n mutable %x : float<4> \"x\"\n code {\n  Fill(@out %x)\n",
       "attribute 'value' of Fill is missing"},
      {"ir \"f\" {\n code {\n }\n}\nmore", "test.ir:5:1: expected the end"},
  };
  for (const ErrorCase &error : cases)
    EXPECT_THAT(parseError(error.text), HasSubstr(error.message)) << error.text;
}

/// \p text with one to three random mutations.
std::string mutate(std::string text, Random &random) {
  static const char *const pieces[] = {
      "%v",    "-1",       "9223372036854775807",
      "none",  "float<0>", "@in",
      "[",     "]",        "{",
      "}",     "view",     "0",
      "\"",    "strides",  "1e9",
      "@",     "int8",     "v99",
      "Alloc", "%out",     "offset"};
  for (unsigned count = 1 + random.below(3); count > 0; --count) {
    size_t place = random.below(text.size()), length = random.below(20);
    switch (random.below(5)) {
    case 0:
      text[place] = char(random.below(256));
      break;
    case 1:
      text.erase(place, length);
      break;
    case 2:
      text.insert(place, pieces[random.below(std::size(pieces))]);
      break;
    case 3:
      text.replace(place, length, pieces[random.below(std::size(pieces))]);
      break;
    case 4:
      text.insert(place, text.substr(random.below(text.size()), length));
      break;
    }
    if (text.empty())
      text = " ";
  }
  return text;
}

TEST(IRText, MutatedTextIsRefusedOrRoundTrips) {
  Random random(42);
  unsigned accepted = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    std::string text = mutate(sample.str(), random);
    auto function = parseIR(text, "mutated.ir", nullptr);
    if (!function) {
      EXPECT_THAT(llvm::toString(function.takeError()),
                  HasSubstr("mutated.ir:"));
      continue;
    }
    ++accepted;
    std::string printed = print(**function);
    auto again = parseIR(printed, "printed.ir", nullptr);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError()) << printed;
    ASSERT_EQ(print(**again), printed);
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_LT(accepted, 2000u);
}

TEST(IRText, MutatedTextDoesNotTripPasses) {
  Random random(43);
  for (unsigned round = 0; round < 4000; ++round) {
    auto function = parseIR(mutate(sample.str(), random), "d.ir", nullptr);
    if (!function) {
      llvm::consumeError(function.takeError());
      continue;
    }
    for (const IRPass &pass : getIRPasses())
      if (isCommonPass(pass))
        runPass(**function, pass.name);
  }
}

//===- Verifier -----------------------------------------------------------===//

/// A program of \p code on a few buffers.
std::string makeProgram(llvm::StringRef code) {
  return R"(ir "f" {
  mutable %x : float<4x4> input "x"
  mutable %out : float<4x4> output "out"
  constant %c : float<4> = [1.0, 2.0, 3.0, 4.0]
  activation %a : float<4x4>
  view %t = %x offset 0 strides [1, 4] : float<4x4>
  view %repeat = %out offset 0 strides [0, 1] : float<4x4>
  view %rows = %c offset 0 strides [0, 1] : float<4x4>
  view %head = %out offset 0 strides [1] : float<8>
  view %mid = %out offset 4 strides [1] : float<8>
  view %tail = %out offset 8 strides [1] : float<8>
  view %left = %out offset 0 strides [4, 1] : float<4x2>
  view %right = %out offset 2 strides [4, 1] : float<4x2>
  view %turned = %out offset 0 strides [1, 4] : float<4x4>
  code {
)" + code.str() +
         "\n  }\n}\n";
}

TEST(IRVerifier, AcceptsWhatIsRight) {
  const char *const programs[] = {
      "Copy(@out %out, @in %t)",
      "ElementWiseLoop(@out %out, @in %out, @in %rows) {program = {}}",
      "Copy(@out %head, @in %tail)",
      "Copy(@out %left, @in %right)",
      "Softmax(@out %out, @in %out) {axis = 1}",
      "Alloc(@out %a) Fill(@out %a) {value = 1.0} Dealloc(@out %a)",
      "",
  };
  for (const char *code : programs)
    EXPECT_EQ(parseError(makeProgram(code)), "accepted") << code;
}

TEST(IRVerifier, RefusesWhatIsWrong) {
  const ErrorCase cases[] = {
      {"Softmax(@out %out, @in %t) {axis = 1}",
       "operand 'input' is a strided view ('t'); it must be dense"},
      {"Fill(@out %c) {value = 1.0}", "writes to the constant 'c'"},
      {"Fill(@out %rows) {value = 1.0}", "writes to the constant 'c'"},
      {"Fill(@out %repeat) {value = 1.0}",
       "writes through 'repeat', which may show an element twice"},
      {"Copy(@out %head, @in %x)", "the operands make it float<4x4>"},
      {"Copy(@out %head, @in %mid)",
       "operand 'input' ('mid') overlaps 'head', which is written"},
      {"Copy(@out %out, @in %turned)", "overlaps 'out'"},
      {"ElementWiseLoop(@out %out, @in %turned) {program = {}}",
       "operand 'inputs' ('turned') overlaps 'out'"},
      {"MatMul(@out %out, @in %out, @in %x)", "overlaps 'out'"},
      {R"("n" Reduce(@out %out, @in %x) {mode = "sum", axes = [1], keepDims = false})",
       "Reduce 'n': result is float<4x4>; the operands make it float<4>"},
      {"Fill(@out %a) {value = 1.0}", "'a' is used outside of its lifetime"},
      {"Alloc(@out %a) Copy(@out %out, @in %a) Dealloc(@out %a)",
       "'a' is read before it is written"},
      {"Alloc(@out %a) Alloc(@out %a)", "'a' is allocated twice"},
      {"Alloc(@out %a) Dealloc(@out %a) Alloc(@out %a)",
       "'a' is allocated twice"},
      {"Alloc(@out %a) Dealloc(@out %a) Fill(@out %a) {value = 1.0}",
       "'a' is used outside of its lifetime"},
      {"Alloc(@out %a) Dealloc(@out %a) Dealloc(@out %a)", "'a' is not live"},
      {"Alloc(@out %a)", "'a' is never deallocated"},
      {"Alloc(@out %x)", "'x' is no activation"},
      {"Alloc(@out %head)", "'head' is no activation"},
  };
  for (const ErrorCase &error : cases)
    EXPECT_THAT(parseError(makeProgram(error.text)), HasSubstr(error.message))
        << error.text;
}

TEST(IRVerifier, ViewsStayInsideTheirRoot) {
  auto makeView = [](llvm::StringRef view) {
    return ("ir \"f\" { activation %a : float<4x4> view %v = %a offset " +
            view + " code { } }")
        .str();
  };
  EXPECT_EQ(parseError(makeView("15 strides [-4, -1] : float<4x4>")),
            "accepted");
  // What shows nothing may be anywhere, but passes compute with where.
  EXPECT_EQ(parseError(makeView("99 strides [1, 1] : float<4x0>")), "accepted");
  EXPECT_THAT(
      parseError(makeView("9223372036854775807 strides [1, 1] : float<4x0>")),
      HasSubstr("outside of 'a'"));
  for (const char *view :
       {"16 strides [] : float<>", "-1 strides [] : float<>",
        "1 strides [4, 1] : float<4x4>", "14 strides [-4, -1] : float<4x4>",
        "9223372036854775807 strides [1] : float<2>"})
    EXPECT_THAT(parseError(makeView(view)), HasSubstr("outside of 'a'"))
        << view;
  for (const char *stride : {"9223372036854775807", "-9223372036854775808"})
    for (const char *shape : {"1", "3", "0"})
      EXPECT_THAT(parseError(makeView("0 strides [" + std::string(stride) +
                                      "] : float<" + shape + ">")),
                  HasSubstr("view 'v' has the stride " + std::string(stride) +
                            "; accepted: -1099511627776 to 1099511627776"));
}

//===- Containers ---------------------------------------------------------===//

TEST(IRFunction, UsersAndViewsAreTracked) {
  IRFunction function("f");
  Type type(ElemKind::Float, {4});
  Buffer *a = function.createActivation("a", type);
  Buffer *b = function.createActivation("a", type);
  EXPECT_EQ(b->getName(), "a_1");
  Buffer *view = function.createView("v", b, type, 0, {1});
  Buffer *nested = function.createView("w", view, type, 0, {1});
  EXPECT_EQ(nested->getRoot(), b);
  EXPECT_EQ(b->getViews().size(), 2u);
  Instruction *copy = function.create<CopyInstr>("c", a, view);
  EXPECT_EQ(view->getUsers().size(), 1u);
  copy->setOperand(1, nested);
  EXPECT_TRUE(view->getUsers().empty());
  function.eraseBuffer(view);
  EXPECT_EQ(b->getViews().size(), 1u);
  EXPECT_EQ(function.findBuffer("v"), nullptr);
  Instruction *fill = function.create("f", FillInstr::draft(b, 0.0), copy);
  EXPECT_EQ(&function.getInstrs().front(), fill);
  function.erase(copy);
  EXPECT_TRUE(a->getUsers().empty());
}

} // namespace
