//===- ForeignTarget.h - Programs on emulated machines ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_FOREIGN_FOREIGNTARGET_H
#define GLOWISH_TESTS_COMMON_FOREIGN_FOREIGNTARGET_H

#include "common/Foreign/TemporaryFolder.h"
#include "glowish/Backends/CPU/CPUBackend.h"

namespace glowish {

/// A machine that QEMU or Node.js emulate.
struct Machine {
  /// What options call it.
  llvm::StringLiteral name;
  llvm::StringLiteral triple;
  llvm::StringLiteral cpu = "";
  llvm::StringLiteral attributes = "";
  /// The compiler whose library has what the processor has no instructions for;
  /// empty where nothing is called.
  llvm::StringLiteral compiler = "";
  /// Options of that compiler and of Clang.
  llvm::StringLiteral options = "";
  /// Where a board without a system has 16 MB of memory; empty with a system.
  llvm::StringLiteral memory = "";
  /// The emulator with its options, to which the program is added.
  llvm::StringLiteral emulator;

  bool isBoard() const { return !memory.empty(); }
  bool isForNode() const { return emulator == "node"; }
};

/// Links programs for a machine and runs them. Child processes may use the one
/// of their parent.
class ForeignTarget {
public:
  /// An error says which machines there are; null, with a line on stdout, where
  /// a program is not installed that it needs. A run that takes longer than
  /// \p secondsOfRun fails.
  static llvm::Expected<std::unique_ptr<ForeignTarget>>
  create(llvm::StringRef name, unsigned secondsOfRun = 120);

  llvm::StringRef getName() const { return machine.name; }
  TargetOptions getOptions() const;
  /// \p plan is \p function's, which \p backend, a CPUBackend that was made
  /// with getOptions(), has prepared. Each run starts the emulator; the memory
  /// of boards is 12 MB, that of programs in QEMU's user mode 1 GB.
  llvm::Expected<std::unique_ptr<Executable>>
  compile(Backend &backend, const IRFunction &function,
          const MemoryPlan &plan) const;

private:
  ForeignTarget(const Machine &machine, unsigned secondsOfRun)
      : machine(machine), secondsOfRun(secondsOfRun) {}
  llvm::Error compileDriver();
  llvm::Error link(llvm::ArrayRef<char> object, llvm::StringRef folder) const;

  const Machine &machine;
  unsigned secondsOfRun;
  /// Has the objects that every program is linked with.
  std::unique_ptr<TemporaryFolder> folder;
  std::vector<std::string> linked;
};

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_FOREIGN_FOREIGNTARGET_H
