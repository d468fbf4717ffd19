//===- JITMemoryTest.cpp - Memory of code that was compiled in a process --===//
//
// No memory may be writable and executable, not even for a moment: what a wrong
// kernel or model writes must not become code. The kernel is asked to end a
// process that wants such memory, and which memory there is in the end is read
// from /proc.
//
//===----------------------------------------------------------------------===//

#ifdef __linux__
#include "ChildProcess.h"
#include "RunText.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include <csignal>
#include <cstddef>
#include <fstream>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

using namespace glowish;

namespace {

/// A program and its memory.
struct Loaded {
  std::unique_ptr<Backend> backend;
  PlannedProgram program;
  std::unique_ptr<Session> session;
};

std::unique_ptr<Loaded> load(llvm::StringRef op) {
  TextModel model;
  model.body = ("node { op_type: \"" + op +
                "\" input: \"x\" output: \"e\" } node { op_type: \"Softmax\" "
                "input: \"e\" output: \"y\" } ")
                   .str();
  std::unique_ptr<Backend> backend =
      llvm::cantFail(CPUBackend::createLocal(TargetOptions()));
  Compilation compilation(*backend, CompilationOptions());
  PlannedProgram program =
      llvm::cantFail(compilation.compile(llvm::cantFail(model.import())));
  auto loaded = std::make_unique<Loaded>(
      Loaded{std::move(backend), std::move(program), nullptr});
  loaded->session = llvm::cantFail(Session::create(loaded->program));
  for (const Buffer *buffer : loaded->session->getPlaceholders())
    if (buffer->isInput())
      llvm::cantFail(
          loaded->session->setInput(buffer, Tensor(buffer->getType())));
  llvm::cantFail(loaded->session->run());
  return loaded;
}

/// Regions of this process's memory: how many are executable and of no file,
/// and those that are writable and executable.
struct Regions {
  unsigned numOfNoFile = 0;
  std::vector<std::string> wrong;
};

Regions readRegions() {
  Regions regions;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    llvm::SmallVector<llvm::StringRef> fields;
    llvm::SplitString(line, fields, " ");
    llvm::StringRef permissions = fields[1];
    if (!permissions.contains('x'))
      continue;
    if (permissions.contains('w'))
      regions.wrong.push_back(line);
    regions.numOfNoFile += fields.size() == 5;
  }
  return regions;
}

/// From now on SIGSYS ends this process when it asks for memory that is
/// writable and executable. Returns whether the kernel can do that.
bool forbidWritableCode() {
  constexpr uint32_t both = PROT_WRITE | PROT_EXEC;
  constexpr uint32_t number = offsetof(seccomp_data, nr);
  // The lower half of the third argument, which is the protection in all three
  // calls.
  constexpr uint32_t protection = offsetof(seccomp_data, args[2]);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pkey_mprotect, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, protection),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, both),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, both, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  sock_fprog filter = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr int cannotForbid = 77;

TEST(JITMemoryTest, HasNoWritableCode) {
  auto first = load("Exp"), second = load("Sigmoid");
  Regions regions = readRegions();
  EXPECT_THAT(regions.wrong, testing::IsEmpty());
  // Else the test would not see the code of sessions at all.
  EXPECT_GE(regions.numOfNoFile, 2u);
}

TEST(JITMemoryTest, AsksForNoWritableCode) {
  ChildResult none = runChild([] {
    if (!forbidWritableCode())
      return cannotForbid;
    mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return 0;
  });
  if (none.exitCode == cannotForbid)
    GTEST_SKIP() << "the kernel filters no system calls (seccomp)";
  EXPECT_EQ(none.signal, SIGSYS) << "the filter has no effect";

  ChildResult result = runChild([] {
    if (!forbidWritableCode())
      return cannotForbid;
    auto first = load("Exp"), second = load("Sigmoid");
    first = nullptr;
    auto third = load("Tanh");
    return readRegions().wrong.empty() ? 0 : 1;
  });
  EXPECT_EQ(result.signal, 0) << result.text;
  EXPECT_EQ(result.exitCode, 0) << result.text;
}

} // namespace
#endif
