//===- ImporterHostileTest.cpp - Damaged models never crash ---------------===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Random.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

/// Imports damaged copies of a real model, and takes those that are still
/// models through all phases.
class HostileModel : public testing::Test {
protected:
  void SetUp() override {
    auto buffer = readFile(GLOWISH_SOURCE_DIR "/examples/digits/digits.onnx");
    ASSERT_TRUE(bool(buffer)) << llvm::toString(buffer.takeError());
    llvm::StringRef text = (*buffer)->getBuffer();
    model.assign(text.bytes_begin(), text.bytes_end());
  }

  void tryModel(llvm::ArrayRef<uint8_t> bytes) {
    ImportOptions options;
    options.evaluate = evaluateNode;
    auto module = importOnnx(bytes, "damaged", options);
    if (!module) {
      std::string message = llvm::toString(module.takeError());
      EXPECT_NE(message.find("damaged"), std::string::npos) << message;
      ++refused;
      return;
    }
    ++imported;
    std::unique_ptr<Backend> backend = createInterpreter();
    Compilation compilation(*backend, {});
    compilation.setModule(std::move(*module));
    llvm::consumeError(compilation.run());
  }

  std::vector<uint8_t> model;
  unsigned refused = 0, imported = 0;
};

} // namespace

TEST_F(HostileModel, WholeModelImports) {
  tryModel(model);
  EXPECT_EQ(imported, 1u);
}

TEST_F(HostileModel, Truncated) {
  Random random(1);
  for (unsigned i = 0; i < 500; ++i)
    tryModel(llvm::ArrayRef(model).take_front(random.below(model.size())));
  // A protobuf that ends between two fields is a shorter protobuf.
  EXPECT_GT(refused, 490u);
}

TEST_F(HostileModel, FlippedBits) {
  Random random(2);
  // Mostly where the structure is: weights are only numbers.
  size_t head = std::min<size_t>(model.size(), 1200);
  size_t tail = model.size() - std::min<size_t>(model.size(), 400);
  for (unsigned i = 0; i < 3000; ++i) {
    std::vector<uint8_t> damaged = model;
    for (uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      size_t at = i % 8 == 0   ? random.below(model.size())
                  : i % 8 == 1 ? tail + random.below(model.size() - tail)
                               : random.below(head);
      damaged[at] ^= uint8_t(1u << random.below(8));
    }
    tryModel(damaged);
  }
  EXPECT_EQ(refused + imported, 3000u);
  EXPECT_GT(refused, 300u);
  EXPECT_GT(imported, 300u);
}

TEST_F(HostileModel, RandomBytesAndText) {
  Random random(3);
  for (unsigned i = 0; i < 500; ++i) {
    std::vector<uint8_t> bytes(random.below(200));
    for (uint8_t &byte : bytes)
      byte = uint8_t(random.below(i % 2 ? 256 : 96) + (i % 2 ? 0 : 32));
    tryModel(bytes);
  }
  EXPECT_EQ(imported, 0u);
}
