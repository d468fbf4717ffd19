//===- TargetSupport.cpp - The targets that are tested, or refused --------===//

#include "glowish/Backends/CPU/TargetSupport.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/ARMTargetParser.h"
#include <utility>

using namespace glowish;
using Triple = llvm::Triple;
using System = TargetSystem;
using llvm::formatv;
using llvm::StringRef;

//===- Which a triple is --------------------------------------------------===//

static bool isMicrocontroller(const Triple &triple) {
  return (triple.isARM() || triple.isThumb()) &&
         llvm::ARM::parseArchProfile(triple.getArchName()) ==
             llvm::ARM::ProfileKind::M;
}

/// Whether the ABI, or the instruction set, is another one than is usual for
/// the architecture.
static bool isUnusual(const Triple &triple) {
  switch (triple.getSubArch()) {
  case Triple::AArch64SubArch_arm64e:
  case Triple::AArch64SubArch_arm64ec:
  case Triple::MipsSubArch_r6:
    return true;
  default:
    return triple.isX32() || triple.getEnvironment() == Triple::GNUILP32 ||
           triple.isOHOSFamily();
  }
}

static System getSystem(const Triple &triple) {
  if (isUnusual(triple))
    return System::Other;
  switch (triple.getOS()) {
  case Triple::UnknownOS:
    return isMicrocontroller(triple) ? System::Microcontroller : System::None;
  case Triple::Linux:
    return triple.isAndroid() ? System::Android : System::Linux;
  case Triple::Darwin:
  case Triple::MacOSX:
  case Triple::IOS:
    return System::Apple;
  case Triple::Win32:
    return triple.isWindowsMSVCEnvironment() || triple.isWindowsGNUEnvironment()
               ? System::Windows
               : System::Other;
  default:
    return System::Other;
  }
}

bool TargetSupport::isFor(const Triple &triple) const {
  return llvm::is_contained(architectures, triple.getArch()) &&
         (system == System::Any || system == getSystem(triple));
}

const TargetSupport &glowish::getTargetSupport(const Triple &triple) {
  const TargetSupport *found =
      llvm::find_if(listTargets(), [&](const TargetSupport &each) {
        return each.isFor(triple);
      });
  assert(found != listTargets().end() && "an architecture of LLVM has no row");
  return *found;
}

//===- Messages -----------------------------------------------------------===//

std::string TargetSupport::describe() const {
  return formatv("{0}: {1}", name, note);
}

StringRef TargetSupport::getNear() const {
  return near.empty() ? StringRef("what «target=help» lists") : StringRef(near);
}

/// Whether LLVM makes objects of a usual format for the system of \p triple on
/// its architecture.
static bool hasObjects(const Triple &triple) {
  Triple::ArchType arch = triple.getArch();
  auto isOn = [arch](llvm::ArrayRef<Triple::ArchType> architectures) {
    return llvm::is_contained(architectures, arch);
  };
  switch (triple.getOS()) {
  case Triple::UnknownOS:
    return true;
  case Triple::Linux:
  case Triple::FreeBSD:
  case Triple::NetBSD:
  case Triple::OpenBSD:
  case Triple::DragonFly:
  case Triple::KFreeBSD:
  case Triple::Haiku:
  case Triple::HermitCore:
  case Triple::Hurd:
  case Triple::LiteOS:
  case Triple::RTEMS:
  case Triple::Serenity:
    return !triple.isWasm();
  case Triple::Fuchsia:
    return isOn({Triple::x86_64, Triple::aarch64, Triple::riscv64});
  case Triple::Solaris:
    return isOn({Triple::x86, Triple::x86_64, Triple::sparc, Triple::sparcv9});
  case Triple::PS4:
  case Triple::PS5:
    return arch == Triple::x86_64;
  case Triple::WASI:
  case Triple::Emscripten:
    return triple.isWasm();
  case Triple::Win32:
    // Its programs for ARM are Thumb code.
    return isOn({Triple::x86, Triple::x86_64, Triple::aarch64, Triple::thumb});
  case Triple::UEFI:
    return isOn({Triple::x86_64, Triple::aarch64});
  default:
    return triple.isOSDarwin() &&
           isOn({Triple::x86, Triple::x86_64, Triple::aarch64,
                 Triple::aarch64_32, Triple::arm, Triple::thumb});
  }
}

static Triple::ObjectFormatType getUsualFormat(const Triple &triple) {
  if (triple.isWasm())
    return Triple::Wasm;
  if (triple.isOSDarwin())
    return Triple::MachO;
  return triple.isOSWindows() || triple.isUEFI() ? Triple::COFF : Triple::ELF;
}

/// Whether the environment of \p triple is one of its system and architecture.
static bool hasItsEnvironment(const Triple &triple) {
  if (triple.isOSWindows())
    return triple.isWindowsMSVCEnvironment() ||
           triple.isWindowsGNUEnvironment() ||
           triple.isWindowsItaniumEnvironment() ||
           triple.isWindowsCygwinEnvironment();
  switch (triple.getEnvironment()) {
  case Triple::GNUX32:
  case Triple::MuslX32:
    return triple.getArch() == Triple::x86_64;
  case Triple::GNUILP32:
    return triple.isAArch64();
  case Triple::GNUABIN32:
  case Triple::GNUABI64:
    return triple.isMIPS64();
  case Triple::GNUSF:
    return triple.isLoongArch();
  // LLVM's ABI of LoongArch with floats and without doubles is a draft.
  case Triple::GNUF32:
  case Triple::CODE16:
  case Triple::OpenCL:
    return false;
  default:
    // The stages of shaders.
    return triple.getEnvironment() < Triple::Pixel ||
           triple.getEnvironment() > Triple::Amplification;
  }
}

/// What is wrong with the system, the format of objects or the environment of
/// \p triple, whose architecture is accepted; empty if nothing.
static std::string findFault(const Triple &triple) {
  if (!hasObjects(triple))
    return formatv("no bundles are made for the system '{0}' on this "
                   "architecture",
                   triple.getOSName());
  if (triple.getObjectFormat() != getUsualFormat(triple))
    return formatv("its system has no objects of the format '{0}'",
                   Triple::getObjectFormatTypeName(triple.getObjectFormat()));
  if (!hasItsEnvironment(triple))
    return formatv("'{0}' is no environment of its system and architecture",
                   triple.getEnvironmentName());
  return {};
}

llvm::Error glowish::checkSupported(const Triple &triple, StringRef option) {
  const TargetSupport &target = getTargetSupport(triple);
  if (target.level == SupportLevel::Refused)
    return makeError("{0}: refused ({1}); accepted: {2}", option,
                     target.describe(), target.getNear());
  std::string fault = findFault(triple);
  if (fault.empty())
    return llvm::Error::success();
  auto usual = llvm::find_if(listTargets(), [&](const TargetSupport &each) {
    return llvm::is_contained(each.architectures, triple.getArch());
  });
  return makeError("{0}: refused ({1}); accepted: «target={2}», or what "
                   "«target=help» lists",
                   option, fault, usual->triple);
}

/// Whether \p triple has the name of a system that LLVM does not know, or an
/// environment of one and no system.
static bool hasUnknownSystem(const Triple &triple) {
  if (triple.getOS() != Triple::UnknownOS)
    return false;
  StringRef name = triple.getOSName();
  return (!name.empty() && name != "unknown" && name != "none") ||
         triple.isGNUEnvironment() || triple.isMusl() || triple.isAndroid();
}

std::string glowish::getTargetWarning(const Triple &triple) {
  if (hasUnknownSystem(triple))
    return formatv("target '{0}' has no system that LLVM knows; the code is "
                   "for a processor without one",
                   triple.str());
  const TargetSupport &target = getTargetSupport(triple);
  if (target.level == SupportLevel::Tested)
    return {};
  return formatv(
      "no test runs code for target '{0}' ({1}); «target=help» lists "
      "those that are tested",
      triple.str(), target.describe());
}

//===- Lists --------------------------------------------------------------===//

static auto getTargets(SupportLevel level) {
  return llvm::make_filter_range(
      listTargets(),
      [level](const TargetSupport &each) { return each.level == level; });
}

void glowish::printTargets(llvm::raw_ostream &os) {
  for (auto [level, title] :
       {std::pair(SupportLevel::Tested, "Tested, and on what:"),
        std::pair(SupportLevel::Untested, "Accepted, with a warning:"),
        std::pair(SupportLevel::Refused, "Refused:")}) {
    os << title << "\n";
    for (const TargetSupport &target : getTargets(level))
      os << formatv("  {0,-33} {1}\n", target.triple, target.describe());
  }
}

static std::string formatExample(const TargetSupport &target) {
  return formatv("`«target={0}»{1}{2}`", target.triple,
                 target.options.empty() ? "" : " ", target.options);
}

void glowish::printTargetsPage(llvm::raw_ostream &os) {
  os << R"(# Targets

Generated by `model-compiler -list-targets`. Do not edit.

`«target=TRIPLE»` makes code for another machine ([bundle.md](bundle.md#other-machines)).
LLVM can parse more triples than it has code generators for, and has code generators for
machines that no bundle can run on. So each architecture and system is one of three kinds,
which `«target=help»` lists, too:

- **Tested**: a test of the project runs code for it, or links it where nothing here runs it.
- **Accepted**: LLVM makes an object, with a warning that no test runs such code.
- **Refused**: an error, which says what is near.

A triple whose system LLVM does not know, such as a misspelled one, gets a warning: its code
is for a processor without a system.

## Tested

| Target | Example | Tests | On |
|---|---|---|---|
)";
  for (const TargetSupport &target : getTargets(SupportLevel::Tested))
    os << formatv("| {0} | {1} | {2} | {3} |\n", target.name,
                  formatExample(target), target.tests, target.note);
  os << R"(
Names of tests are those of ctest ([testing.md](testing.md)). *Scalar code* has no vectors.
Big-endian targets have their weights in their own order of bytes: the files of a bundle are
for machines of one order.

## Accepted, with a warning

| Target | Example | Why it is not tested |
|---|---|---|
)";
  for (const TargetSupport &target : getTargets(SupportLevel::Untested))
    os << formatv("| {0} | {1} | {2} |\n", target.name, formatExample(target),
                  target.note);
  os << R"(
## Refused

| Target | Example | Why | Near |
|---|---|---|---|
)";
  for (const TargetSupport &target : getTargets(SupportLevel::Refused))
    os << formatv("| {0} | {1} | {2} | {3} |\n", target.name,
                  formatExample(target), target.note, target.near);
  os << R"(
## Processors and features

`«mcpu=help»` and `«mattr=help»` list the names that a target has. A name that it does not have
is an error with those that look most like it, or with the triples of a processor of another
architecture: `«mcpu=cortex-m4»` alone is refused on a PC, as how floats are passed to functions
(`eabihf`, `eabi`) and the system are not known from the processor.

On x86 with 32 bits a processor needs SSE2, and `«mcpu»` is `pentium4` where it is not stated.
On RISC-V and LoongArch with a system it is one with floating-point registers.

Where LLVM cannot make code of a function for a target with the features that are stated, one
line of error names both, and no files are written.
)";
}
