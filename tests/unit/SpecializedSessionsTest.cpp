//===- SpecializedSessionsTest.cpp - A program for each shape -------------===//

#include "glowish/Driver/SpecializedSessions.h"
#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include <gmock/gmock.h>

using namespace glowish;

namespace {

/// y = x + total, total = the sum of x over N; -state keeps the total.
constexpr llvm::StringLiteral model = R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  node { op_type: "Add" input: "x" input: "total" output: "y" }
  node { op_type: "ReduceSum" input: "x" output: "sum" name: "sum"
         attribute { name: "keepdims" type: INT i: 0 } }
  node { op_type: "Add" input: "sum" input: "total" output: "next" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "N" } } } } }
  input { name: "total" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  output { name: "next" type { tensor_type { elem_type: 1 } } }
})";

class SpecializedSessionsTest : public TestFolder {
protected:
  void SetUp() override {
    TestFolder::SetUp();
    path = in("model.onnxtxt");
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << model;
    options.evaluate = evaluateNode;
    options.states.push_back({"total", "next"});
  }
  /// y for x = 1, 2, ..., count.
  std::vector<float> run(SpecializedSessions &sessions, int64_t count) {
    Tensor x(Type(ElemKind::Float, {count}));
    for (int64_t i = 0; i < count; ++i)
      x.data<float>()[i] = float(i + 1);
    Session *session = llvm::cantFail(sessions.run({{"x", &x}}));
    Tensor y =
        session->getOutput(llvm::cantFail(session->findPlaceholder("y")));
    return y.data<float>().vec();
  }

  std::string path;
  ImportOptions options;
};

/// Programs are compiled once, the states go along, and the one used least
/// recently goes first.
TEST_F(SpecializedSessionsTest, CompilesForEachShape) {
  std::unique_ptr<Backend> backends[] = {
      createInterpreter(),
      llvm::cantFail(CPUBackend::createLocal(TargetOptions()))};
  for (const auto &backend : backends) {
    SpecializedSessions sessions(*backend, path, options, {}, /*capacity=*/2);
    EXPECT_THAT(run(sessions, 2), testing::ElementsAre(1, 2));
    EXPECT_THAT(run(sessions, 3), testing::ElementsAre(4, 5, 6));
    EXPECT_THAT(run(sessions, 2), testing::ElementsAre(10, 11));
    EXPECT_EQ(sessions.countCompiled(), 2u);
    EXPECT_THAT(run(sessions, 1), testing::ElementsAre(13));
    EXPECT_EQ(sessions.countKept(), 2u);
    EXPECT_THAT(run(sessions, 2), testing::ElementsAre(14, 15));
    EXPECT_EQ(sessions.countCompiled(), 3u);
    EXPECT_THAT(run(sessions, 3), testing::ElementsAre(17, 18, 19));
    EXPECT_EQ(sessions.countCompiled(), 4u);
  }
}

/// Inputs and outputs are where the caller has them, aligned to an element
/// only; the session does not write to an input that is bound. States stay.
TEST_F(SpecializedSessionsTest, RunsWithMemoryOfTheCaller) {
  std::unique_ptr<Backend> backends[] = {
      createInterpreter(),
      llvm::cantFail(CPUBackend::createLocal(TargetOptions()))};
  for (const auto &backend : backends)
    for (int64_t count : {1, 3, 7, 17, 33}) {
      SpecializedSessions sessions(*backend, path, options, {});
      Type type(ElemKind::Float, {count});
      Session &session = *llvm::cantFail(sessions.prepare({{"x", type}}));
      auto find = [&](llvm::StringRef name) {
        return llvm::cantFail(session.findPlaceholder(name));
      };
      std::vector<float> x(size_t(count) + 1, 2), y(size_t(count) + 2, -1);
      EXPECT_TRUE(session.bind(find("x"), &x[1]));
      EXPECT_TRUE(session.bind(find("y"), &y[1]));
      EXPECT_FALSE(session.bind(find("total"), x.data()));
      llvm::cantFail(session.run());
      llvm::cantFail(session.run());
      std::vector<float> expected(size_t(count) + 2, 2 + 2 * float(count));
      expected.front() = expected.back() = -1;
      EXPECT_THAT(y, testing::ElementsAreArray(expected));
      EXPECT_EQ(session.getTensor(find("y")).getBytes(), &y[1]);

      Tensor other(type);
      other.data<float>().front() = 1;
      llvm::cantFail(session.setInput(find("x"), other));
      EXPECT_TRUE(session.bind(find("y"), nullptr));
      llvm::cantFail(session.run());
      EXPECT_THAT(x, testing::Each(2));
      EXPECT_THAT(y, testing::ElementsAreArray(expected));
      EXPECT_EQ(session.getTensor(find("y")).data<float>().front(),
                1 + 4 * float(count));
    }
}

TEST_F(SpecializedSessionsTest, RefusesOtherInputs) {
  std::unique_ptr<Backend> interpreter = createInterpreter();
  SpecializedSessions sessions(*interpreter, path, options, {});
  Tensor x(Type(ElemKind::Int32, {2})), y(Type(ElemKind::Float, {2}));
  EXPECT_THAT(llvm::toString(sessions.run({{"x", &x}}).takeError()),
              testing::HasSubstr("'x'"));
  auto unknown = sessions.run({{"x", &y}, {"z", &y}});
  EXPECT_THAT(llvm::toString(unknown.takeError()), testing::HasSubstr("'z'"));
  EXPECT_THAT(run(sessions, 2), testing::ElementsAre(1, 2));
}

} // namespace
