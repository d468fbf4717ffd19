//===- TargetSupport.h - Tested and refused targets -------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CPU_TARGETSUPPORT_H
#define GLOWISH_BACKENDS_CPU_TARGETSUPPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <array>
#include <string>

namespace glowish {

enum class SupportLevel : uint8_t {
  /// A test runs code for the target, or links it where nothing here runs it.
  Tested,
  /// Code is made, with a warning.
  Untested,
  /// An error.
  Refused
};

/// The systems that targets are distinguished by.
enum class TargetSystem : uint8_t {
  Any,
  /// Without a system.
  None,
  /// Without a system, on a processor of ARM's M profile.
  Microcontroller,
  /// Linux with glibc or musl, and the usual ABI of its architecture.
  Linux,
  Android,
  /// macOS and iOS.
  Apple,
  /// Windows with the libraries of MSVC or MinGW.
  Windows,
  Other
};

/// Architectures on a system, and how far code for them is tested. Texts have
/// no full stop.
struct TargetSupport {
  std::array<llvm::Triple::ArchType, 6> architectures = {};
  TargetSystem system = TargetSystem::Any;
  SupportLevel level = SupportLevel::Refused;
  /// "RISC-V, 64 bits; Linux".
  llvm::StringLiteral name;
  /// A triple of that kind.
  llvm::StringLiteral triple;
  /// Options that the test has beside it, or that are usual.
  llvm::StringLiteral options = "";
  /// Names of tests, separated by commas, where it is tested.
  llvm::StringLiteral tests = "";
  /// The machine or emulator that runs the code of the tests; or the reason why
  /// the target is not tested, or refused.
  llvm::StringLiteral note = "";
  /// Targets to take in place of one that is refused; may be empty.
  llvm::StringLiteral near = "";

  bool isFor(const llvm::Triple &triple) const;
  /// Returns the name and the note.
  std::string describe() const;
  /// Returns `near`, or where to look for other targets.
  llvm::StringRef getNear() const;
};

/// All targets: what is tested first, what is refused last.
llvm::ArrayRef<TargetSupport> listTargets();

/// The first of all targets that \p triple is one of.
const TargetSupport &getTargetSupport(const llvm::Triple &triple);

/// An error if \p triple, which \p option ("-target=avr") asks for, is refused:
/// it says why, and what is near.
llvm::Error checkSupported(const llvm::Triple &triple, llvm::StringRef option);

/// A line about a target that is accepted and not tested, or whose system LLVM
/// does not know; empty for others.
std::string getTargetWarning(const llvm::Triple &triple);

/// All targets, for -target=help, and as the page docs/targets.md.
void printTargets(llvm::raw_ostream &os);
void printTargetsPage(llvm::raw_ostream &os);

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_TARGETSUPPORT_H
