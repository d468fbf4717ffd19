//===- TorchExportSymbolsTest.cpp - Extents of exported programs ----------===//

#include "TorchExport/Symbols.h"
#include "gtest/gtest.h"

using namespace glowish;
using namespace glowish::torchexport;

/// Returns the extent that \p text states, or "none".
static std::string read(llvm::StringRef text) {
  std::optional<Extent> extent = readSymbolicExtent(text);
  return extent ? extent->str() : "none";
}

TEST(TorchExportSymbols, BothNotationsOfSymPy) {
  EXPECT_EQ(read("s0"), "s0");
  EXPECT_EQ(read("2*s0 + s1 - 1"), "2*s0 + s1 - 1");
  EXPECT_EQ(read("Symbol('s77', positive=True, integer=True)"), "s77");
  EXPECT_EQ(read("Add(Mul(Integer(2), Symbol('s0', integer=True)), "
                 "Integer(-1))"),
            "2*s0 - 1");
  EXPECT_EQ(read("s0**2 - s0*s0"), "0");
}

TEST(TorchExportSymbols, RoundedQuotients) {
  EXPECT_EQ(read("((s0 - 1)//2) + 1"), read("(s0 + 1)//2"));
  EXPECT_EQ(read("torch.utils._sympy.functions.FloorDiv(Symbol('s0', "
                 "integer=True), Integer(4))"),
            "s0//4");
  EXPECT_EQ(read("Mod(s0, 3)"), read("s0 - 3*(s0//3)"));
  EXPECT_EQ(read("CeilToInt(IntTrueDiv(s0, 2))"), read("(s0 + 1)//2"));
  EXPECT_EQ(read("TruncToInt(0.5*ToFloat(s0))"), "s0//2");
  EXPECT_EQ(read("floor(s0/2)"), "s0//2");
  EXPECT_EQ(read("2*(s0/2)"), "s0");
  EXPECT_EQ(read("FloorToInt(IntTrueDiv(3*s0 + 1, 4))"), "(3*s0 + 1)//4");
}

TEST(TorchExportSymbols, WhatIsNone) {
  for (llvm::StringRef text :
       {"", "s0 +", "s0 s1", "(s0", "Max(s0, s1)", "s0//s1", "s0//0", "s0/2",
        "Mod(s0, -2)", "TruncToInt(IntTrueDiv(s0 - 8, 2))", "Symbol('s0",
        "s0**9", "99999999999999999999", "FloorDiv(s0)", "Add()", "Float(0.5"})
    EXPECT_EQ(read(text), "none") << text.str();
  EXPECT_EQ(read(std::string(200000, '(') + "s0"), "none");
  EXPECT_EQ(read(std::string(200000, '-') + "s0"), "none");
  for (llvm::StringRef nested : {"2**-", "2**("}) {
    std::string text;
    for (int i = 0; i < 200000; ++i)
      text += nested;
    EXPECT_EQ(read(text + "s0"), "none") << nested.str();
  }
}
