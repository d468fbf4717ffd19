//===- NetworkDebuggerTest.cpp - Faults that network-debugger finds -------===//
//
// A back end that computes one kind of instruction wrongly, compared with the
// interpreter that it is otherwise.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "TestFolder.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/Random.h"
#include "network-debugger/Bisection.h"
#include "network-debugger/LayerComparison.h"

using namespace glowish;

namespace {

/// Doubles the exponent of the local response normalization of the size that
/// the context states.
llvm::Expected<bool> changeNormalization(IRFunction &function,
                                         const IRPassContext &context) {
  bool changed = false;
  for (Instruction &instr : function.getInstrs())
    if (auto *norm = llvm::dyn_cast<LocalResponseNormalizationInstr>(&instr))
      if (norm->getSize() == *llvm::any_cast<int64_t>(&context.backend)) {
        norm->setBeta(2 * norm->getBeta());
        changed = true;
      }
  return changed;
}

const IRPassRegistration faulty({.name = "faulty-normalizations",
                                 .exactness = Exactness::Exact,
                                 .doc = "has a fault",
                                 .run = changeNormalization});

/// The interpreter with a fault: one of the local response normalizations of a
/// program has another exponent.
class FaultyBackend : public Backend {
public:
  explicit FaultyBackend(int64_t faultySize) : faultySize(faultySize) {}
  llvm::StringRef getName() const override { return "faulty"; }
  bool isSupported(const Node &node) const override {
    return inner->isSupported(node);
  }
  llvm::Expected<std::unique_ptr<Executable>>
  compile(const IRFunction &function, const MemoryPlan &plan,
          InstrClock *clock) override {
    return inner->compile(function, plan, clock);
  }
  Pipeline getIRPipeline() const override {
    return {{{"faulty-normalizations"}}};
  }
  llvm::Any getPassInput(const SharedChoices *) const override {
    return faultySize;
  }

private:
  std::unique_ptr<Backend> inner = createInterpreter();
  int64_t faultySize;
};

/// A chain of 12 normalizations, of sizes 1, 3, 5, ..., with a branch that goes
/// around the middle of it.
std::string makeChain() {
  std::string nodes;
  llvm::raw_string_ostream os(nodes);
  std::string last = "x";
  for (unsigned i = 0; i < 12; ++i) {
    std::string next = "n" + std::to_string(i);
    os << "node { name: \"" << next << "\" op_type: \"LRN\" input: \"" << last
       << "\" output: \"" << next
       << "\" attribute { name: \"size\" type: INT i: " << 2 * i + 1
       << " } attribute { name: \"alpha\" type: FLOAT f: 2 } }\n";
    last = next;
    if (i != 7)
      continue;
    os << "node { name: \"join\" op_type: \"Add\" input: \"n3\" input: \"n7\" "
          "output: \"j\" }\n";
    last = "j";
  }
  return "ir_version: 7 opset_import { version: 13 } graph { name: \"g\" " +
         nodes +
         "input { name: \"x\" type { tensor_type { elem_type: 1 shape { dim { "
         "dim_value: 1 } dim { dim_value: 33 } dim { dim_value: 3 } dim { "
         "dim_value: 1 } } } } } output { name: \"n11\" } }";
}

class NetworkDebugger : public TestFolder {
protected:
  void SetUp() override {
    TestFolder::SetUp();
    put("chain.onnxtxt", makeChain());
    options.rtol = 1e-5;
    options.atol = 1e-6;
    options.fillInputs = [](Session &session) -> llvm::Error {
      Random random(3);
      for (const Buffer *buffer : session.getPlaceholders()) {
        Tensor tensor(buffer->getType());
        for (float &value : tensor.data<float>())
          value = random.uniform(-1, 1);
        if (buffer->isInput())
          GLOWISH_RETURN_IF_ERROR(session.setInput(buffer, tensor));
      }
      return llvm::Error::success();
    };
  }
  Side makeSide(Backend &backend, GraphForm form) {
    return {&backend, in("chain.onnxtxt"), {}, {}, form};
  }

  ComparisonOptions options;
};

/// Whether \p name is that of normalization \p number, or made of it.
bool isNormalization(const ValueName &name, unsigned number) {
  std::string wanted = "n" + std::to_string(number);
  return name.node == wanted || name.node.starts_with(wanted + "_");
}

} // namespace

TEST_F(NetworkDebugger, FindsAFaultAtEachPlace) {
  std::unique_ptr<Backend> interpreter = createInterpreter();
  for (GraphForm form :
       {GraphForm::Imported, GraphForm::Prepared, GraphForm::Optimized})
    for (unsigned i = 0; i < 12; ++i) {
      FaultyBackend faulty(2 * i + 1);
      Side reference = makeSide(*interpreter, form);
      Side tested = makeSide(faulty, form);
      auto results = compareLayers(reference, tested, options);
      ASSERT_TRUE(bool(results)) << getMessage(results.takeError());
      std::vector<ValueName> bad;
      for (const LayerResult &result : *results)
        if (result.isBad)
          bad.push_back(result.name);
      ASSERT_EQ(bad.size(), 1u) << i;
      EXPECT_TRUE(isNormalization(bad.front(), i)) << bad.front().node;
      unsigned numCuts = 0;
      auto first = bisectLayers(reference, tested, options,
                                [&](const Cut &) { ++numCuts; });
      ASSERT_TRUE(bool(first)) << getMessage(first.takeError());
      ASSERT_TRUE(first->has_value()) << i;
      EXPECT_EQ((*first)->name, bad.front());
      EXPECT_EQ((*first)->kind, "LocalResponseNormalization");
      // Of at most 40 nodes.
      EXPECT_LE(numCuts, 7u);
    }
}

TEST_F(NetworkDebugger, FindsNothingWhereNothingIs) {
  std::unique_ptr<Backend> interpreter = createInterpreter();
  auto cpu = llvm::cantFail(CPUBackend::create(TargetOptions()));
  Side reference = makeSide(*interpreter, GraphForm::Optimized);
  Side tested = makeSide(*cpu, GraphForm::Optimized);
  auto results = compareLayers(reference, tested, options);
  ASSERT_TRUE(bool(results)) << getMessage(results.takeError());
  EXPECT_GE(results->size(), 13u);
  for (const LayerResult &result : *results)
    EXPECT_FALSE(result.isBad) << result.name.node;
  auto first = bisectLayers(reference, tested, options, [](const Cut &) {});
  ASSERT_TRUE(bool(first)) << getMessage(first.takeError());
  EXPECT_FALSE(first->has_value());
}
