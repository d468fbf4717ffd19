//===- CInterfaceLogTest.cpp - The log of the interface in C --------------===//

#include "CInterfaceFixture.h"
#include "ChildProcess.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <thread>

using namespace glowish;

namespace {

/// Lines of the log, with `severity.verbosity ` in front.
struct Logged {
  std::vector<std::string> lines;
  std::atomic<unsigned> inside = 0;

  bool has(llvm::StringRef start) const {
    return llvm::any_of(lines, [&](const std::string &line) {
      return llvm::StringRef(line).starts_with(start);
    });
  }
};

void log(void *context, int32_t severity, int32_t verbosity, const char *line) {
  auto &logged = *static_cast<Logged *>(context);
  // One call at a time.
  EXPECT_EQ(logged.inside++, 0u);
  logged.lines.push_back(std::to_string(severity) + "." +
                         std::to_string(verbosity) + " " + line);
  --logged.inside;
}

/// A model with an attribute that there is not.
constexpr llvm::StringLiteral oddModel = R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "odd"
  node { name: "first" op_type: "LeakyRelu" input: "x" output: "y"
         attribute { name: "alhpa" f: 0.5 type: FLOAT } }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";

class CInterfaceLogTest : public CInterfaceTest {
protected:
  void SetUp() override {
    CInterfaceTest::SetUp();
    write(path, oddModel);
  }
  void TearDown() override {
    glowish_set_log(nullptr, nullptr, 0);
    CInterfaceTest::TearDown();
  }
  void compileOdd(glowish_job *job = nullptr) {
    glowish_model *opened = open(path);
    glowish_program *program = nullptr;
    EXPECT_EQ(take(glowish_compile(opened, nullptr, job, &program)), "");
    glowish_program_free(program);
    glowish_model_free(opened);
  }
};

TEST_F(CInterfaceLogTest, NothingIsPrinted) {
  ChildResult child = runChild([&] {
    compileOdd();
    Logged logged;
    glowish_set_log(log, &logged, 3);
    compileOdd();
    return logged.lines.empty() ? 1 : 0;
  });
  EXPECT_EQ(child.exitCode, 0);
  EXPECT_EQ(child.text, "");
}

TEST_F(CInterfaceLogTest, UpToItsVerbosity) {
  const std::string warning =
      "1.0 node 'first' (LeakyRelu): attribute 'alhpa' is ignored: the "
      "operator has no such attribute";
  Logged logged;
  glowish_set_log(log, &logged, 0);
  compileOdd();
  EXPECT_THAT(logged.lines, testing::ElementsAre(warning));

  logged.lines.clear();
  glowish_set_log(log, &logged, 1);
  compileOdd();
  EXPECT_TRUE(logged.has(warning));
  EXPECT_TRUE(logged.has("0.1 phase import took "));
  EXPECT_TRUE(logged.has("0.1 plan: weights "));
  EXPECT_TRUE(logged.has("0.1 phase codegen took "));
  EXPECT_FALSE(logged.has("0.2 "));

  logged.lines.clear();
  glowish_set_log(log, &logged, 2);
  compileOdd();
  EXPECT_TRUE(logged.has("0.2 pass "));
  EXPECT_FALSE(logged.has("0.3 "));

  logged.lines.clear();
  // As much as there is.
  glowish_set_log(log, &logged, 100);
  compileOdd();
  EXPECT_TRUE(logged.has("0.3 "));

  logged.lines.clear();
  glowish_set_log(log, &logged, -1);
  compileOdd();
  EXPECT_THAT(logged.lines, testing::ElementsAre(warning));

  logged.lines.clear();
  glowish_set_log(nullptr, &logged, 3);
  compileOdd();
  EXPECT_THAT(logged.lines, testing::IsEmpty());
}

TEST_F(CInterfaceLogTest, OfAJobsThread) {
  Logged logged;
  glowish_set_log(log, &logged, 1);
  glowish_job *job = glowish_job_create();
  // This thread ends the log while another one compiles.
  glowish_job_on_progress(
      job,
      [](void *, const char *step, double) {
        if (llvm::StringRef(step) == "lower")
          glowish_set_log(nullptr, nullptr, 0);
      },
      nullptr);
  compileOdd(job);
  glowish_job_free(job);
  EXPECT_TRUE(logged.has("0.1 phase import took "));
  EXPECT_FALSE(logged.has("0.1 phase plan took "));
}

TEST_F(CInterfaceLogTest, OfSeveralThreads) {
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!ends)
        compileOdd();
    });
  size_t count = 0;
  while (count < 200) {
    auto logged = std::make_unique<Logged>();
    glowish_set_log(log, logged.get(), 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // What is freed now is not used any more.
    glowish_set_log(nullptr, nullptr, 0);
    count += logged->lines.size();
  }
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
