//===- InputTypesTest.cpp - Types of inputs as options state them ---------===//

#include "glowish/Compiler/InputTypes.h"
#include "Messages.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

std::string parse(llvm::StringRef text) {
  ImportOptions options;
  options.symbols["fixed"] = 3;
  options.symbolRanges["N"] = {1, 8};
  llvm::Expected<Type> type = parseInputType(text, options);
  return type ? type->str() : getMessage(type.takeError());
}

TEST(InputTypes, DimensionsOfSymbols) {
  EXPECT_EQ(parse("float,[N,2]"), "float<8{N}x2>");
  EXPECT_EQ(parse("int8q,0.5,3,[2*N + fixed]"),
            "int8q<19{2*N + 3}, scale 0.5 offset 3>");
  EXPECT_EQ(parse("float,[fixed,fixed - 3]"), "float<3x0>");
  EXPECT_EQ(parse("float,[(N + 1)//2,4]"), "float<4{(N + 1)//2}x4>");
}

TEST(InputTypes, NamesOfSymbols) {
  ImportOptions options;
  options.symbols["fixed"] = 3;
  options.symbolRanges["N"] = {1, 8};
  ASSERT_EQ(getMessage(readInputTypes({"x,float,[fixed,2*N,7]"}, options)), "");
  EXPECT_EQ(options.inputTypes.at("x").str(), "float<3x16{2*N}x7>");
  EXPECT_EQ(options.typeSymbols, (std::set<std::string>{"N", "fixed"}));
}

TEST(InputTypes, DimensionsThatAreNone) {
  EXPECT_EQ(parse("float,[-1]"), "'-1' is not an extent");
  EXPECT_EQ(parse("float,[2.5]"), "'2.5' is not an extent");
  EXPECT_EQ(parse("float,[N - 4]"), "'N - 4' may be -3; accepted: 0 and more");
  EXPECT_EQ(
      parse("float,[2*M]"),
      "'2*M' depends on the symbol 'M', which has neither one value nor a "
      "range; state «define-symbol=M,1..16»");
}

} // namespace
