//===- RequiredExtentsTest.cpp - Extents that must be equal ---------------===//
//
// An operator that wants two extents to be the same makes that a requirement of
// the module, which each run checks before anything is written.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "GraphTexts.h"
#include "Messages.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IRText.h"

using namespace glowish;

namespace {

constexpr llvm::StringLiteral graphText = R"(module "m"
placeholder %M : int64<> input "M" range "M" [1, 4] requires ["M == 2*N"]
placeholder %N : int64<> input "N" range "N" [1, 2]
placeholder %x : float<4{M}x3> input "x"
placeholder %y : float<4{2*N}x3> input "y"
placeholder %z : float<4x3> output "z"
function "main" {
  %sum = Add(%x, %y) : float<4{M}x3>
  Save(%sum, %z)
}
)";

std::unique_ptr<Module> parse(llvm::StringRef text) {
  return llvm::cantFail(parseModule(text, "f", nullptr));
}

TEST(RequiredExtents, ComeFromTheOperator) {
  std::string text = graphText.str(), required = " requires [\"M == 2*N\"]";
  size_t start = text.find(required);
  ASSERT_NE(start, std::string::npos);
  EXPECT_EQ(print(*parse(text.erase(start, required.size()))), graphText);
}

TEST(RequiredExtents, StayWithoutTheOperator) {
  std::string text = graphText.str();
  text = text.substr(0, text.find("  %sum")) + "}\n";
  EXPECT_EQ(print(*parse(text)), text);
}

TEST(RequiredExtents, AreOfStatedSymbols) {
  auto error = [](llvm::StringRef requirement) {
    std::string text = graphText.str();
    text.replace(text.find("M == 2*N"), 8, requirement.str());
    return getMessage(parseModule(text, "f", nullptr));
  };
  EXPECT_EQ(error("M = 2"), "f:2:70: 'M = 2' is no equality of extents");
  EXPECT_EQ(error("M == K"),
            "'M == K' is required; accepted: extents of stated symbols");
}

TEST(RequiredExtents, AreCheckedBeforeARun) {
  for (bool isCPU : {false, true}) {
    std::unique_ptr<Backend> backend =
        isCPU ? llvm::cantFail(CPUBackend::create({})) : createInterpreter();
    Compilation compilation(*backend, {});
    PlannedProgram program =
        llvm::cantFail(compilation.compile(parse(graphText)));
    std::string text;
    llvm::raw_string_ostream os(text);
    printIR(os, program.getIR(), nullptr);
    EXPECT_NE(text.find("range \"M\" [1, 4] requires [\"M == 2*N\"]"),
              std::string::npos);
    EXPECT_EQ(getMessage(parseIR(text, "f", nullptr).takeError()), "");
    auto session = llvm::cantFail(Session::create(program));
    auto find = [&](llvm::StringRef name) {
      return llvm::cantFail(session->findPlaceholder(name));
    };
    auto run = [&](int64_t m, int64_t n) {
      Tensor x(Type(ElemKind::Float, {m, 3})), y(Type(ElemKind::Float, {n, 3}));
      for (Tensor *tensor : {&x, &y})
        for (int64_t i = 0; i < tensor->getNumElements(); ++i)
          tensor->setFromDouble(i, double(i));
      llvm::cantFail(session->setInput(find("x"), x));
      llvm::cantFail(session->setInput(find("y"), y));
      llvm::cantFail(session->setInput(
          find("N"),
          Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {n / 2})));
      return getMessage(session->run());
    };
    EXPECT_EQ(run(4, 4), "");
    Tensor z = session->getOutput(find("z"));
    EXPECT_EQ(z.getType().str(), "float<4x3>");
    EXPECT_EQ(z.getAsDouble(11), 22);
    EXPECT_EQ(run(3, 4),
              "the extents 'M' and '2*N' are 3 and 4; accepted: equal ones");
    EXPECT_EQ(run(2, 2), "");
    EXPECT_EQ(session->getOutput(find("z")).getType().str(), "float<2x3>");
  }
}

} // namespace
