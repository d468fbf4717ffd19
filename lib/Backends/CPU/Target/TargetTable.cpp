//===- TargetTable.cpp - All targets, and how far they are tested ---------===//

#include "glowish/Backends/CPU/TargetSupport.h"

using namespace glowish;
using Triple = llvm::Triple;
using System = TargetSystem;
using llvm::StringRef;

static constexpr auto Tested = SupportLevel::Tested;

#define NO_GENERATOR "this LLVM has no code generator for it"
#define INCOMPLETE "LLVM's code generator for it is not complete"
#define NARROW "addresses have 16 bits, and accepted are 32 and 64"
#define NEAR_NARROW                                                            \
  "a microcontroller with addresses of 32 bits: «target=thumbv6m-none-eabi» "  \
  "«mcpu=cortex-m0» (Cortex-M0), or «target=riscv32-unknown-elf» "             \
  "«mattr=+m,-a,+c» «mabi=ilp32» (RV32IMC)"
/// ESP32-C2 and C3 have no atomic instructions, C6, C5 and H2 have.
#define NEAR_XTENSA                                                            \
  "ESP32-C3 and C2, which are RISC-V: «target=riscv32-unknown-elf» "           \
  "«mattr=+m,-a,+c» «mabi=ilp32»; ESP32-C6, C5 and H2: "                       \
  "«target=riscv32-unknown-elf» «mattr=+m,+a,+c» «mabi=ilp32»"
#define NO_EMULATOR "there is no emulator for it in Debian"

/// Fills in the fields of a target whose code e2e-cross runs in QEMU.
static TargetSupport inQEMU(TargetSupport row) {
  row.level = SupportLevel::Tested;
  row.tests = "e2e-cross";
  if (row.note.empty())
    row.note = "QEMU";
  return row;
}

/// Fills in the fields of a target that has code without vectors only.
static TargetSupport scalarOnLinux(TargetSupport row) {
  row.system = System::Linux;
  if (row.note.empty())
    row.note = "QEMU; scalar code";
  return inQEMU(row);
}

/// Fills in the fields of a target that is accepted, for its other systems
/// unless a note says why.
static TargetSupport untested(TargetSupport row) {
  row.level = SupportLevel::Untested;
  if (row.note.empty())
    row.note =
        "the code is that of a target that is tested, and this system's own is "
        "not";
  return row;
}

/// Fills in the fields of a target that is refused.
static TargetSupport gpu(TargetSupport row) {
  row.note = "no program can call the object that LLVM would write";
  row.near = "`model-compiler -emit-mlir=linalg`, tosa or stablehlo, for "
             "compilers that have such targets";
  return row;
}

/// The first row that a triple matches counts, and each architecture has one
/// for any system at the end.
static const TargetSupport targets[] = {
    {.architectures = {Triple::x86_64},
     .system = System::Linux,
     .level = Tested,
     .name = "x86-64; Linux",
     .triple = "x86_64-linux-gnu",
     .options = "«mcpu=x86-64-v3»",
     .tests = "e2e-networks, e2e-levels",
     .note =
         "the machine that tests run on; QEMU, with processors of each level"},
    {.architectures = {Triple::x86_64},
     .system = System::Android,
     .level = Tested,
     .name = "x86-64; Android",
     .triple = "x86_64-linux-android21",
     .options = "«mcpu=x86-64-v2»",
     .tests = "e2e-platforms",
     .note = "the machine that tests run on"},
    {.architectures = {Triple::x86_64},
     .system = System::Windows,
     .level = Tested,
     .name = "x86-64; Windows",
     .triple = "x86_64-pc-windows-msvc",
     .options = "«mcpu=x86-64-v2»",
     .tests = "e2e-platforms",
     .note = "Wine"},
    {.architectures = {Triple::x86_64},
     .system = System::Apple,
     .level = Tested,
     .name = "x86-64; macOS",
     .triple = "x86_64-apple-macos11",
     .tests = "e2e-platforms",
     .note = "linked by lld, not run"},
    inQEMU({.architectures = {Triple::x86_64},
            .system = System::None,
            .name = "x86-64; no system",
            .triple = "x86_64-none-elf"}),
    inQEMU({.architectures = {Triple::x86},
            .system = System::Linux,
            .name = "x86, 32 bits, with SSE2; Linux",
            .triple = "i686-linux-gnu"}),
    inQEMU({.architectures = {Triple::aarch64},
            .system = System::Linux,
            .name = "AArch64; Linux",
            .triple = "aarch64-linux-gnu",
            .options = "«mcpu=cortex-a72»"}),
    {.architectures = {Triple::aarch64},
     .system = System::Android,
     .level = Tested,
     .name = "AArch64; Android",
     .triple = "aarch64-linux-android21",
     .tests = "e2e-platforms",
     .note = "QEMU"},
    {.architectures = {Triple::aarch64},
     .system = System::Apple,
     .level = Tested,
     .name = "AArch64; macOS, iOS",
     .triple = "arm64-apple-ios14",
     .tests = "e2e-platforms",
     .note = "linked by lld, not run"},
    {.architectures = {Triple::aarch64},
     .system = System::Windows,
     .level = Tested,
     .name = "AArch64; Windows",
     .triple = "aarch64-pc-windows-msvc",
     .tests = "e2e-platforms",
     .note = "linked by lld, not run"},
    inQEMU({.architectures = {Triple::aarch64},
            .system = System::None,
            .name = "AArch64; no system",
            .triple = "aarch64-none-elf"}),
    inQEMU({.architectures = {Triple::arm, Triple::thumb},
            .system = System::Linux,
            .name = "ARM, 32 bits; Linux",
            .triple = "armv7a-linux-gnueabihf",
            .options = "«mattr=+neon»"}),
    inQEMU({.architectures = {Triple::arm, Triple::thumb},
            .system = System::Android,
            .name = "ARM, 32 bits; Android",
            .triple = "armv7a-linux-androideabi21",
            .options = "«mattr=+neon»"}),
    {.architectures = {Triple::arm, Triple::thumb},
     .system = System::Microcontroller,
     .level = Tested,
     .name = "Arm Cortex-M",
     .triple = "thumbv7em-none-eabihf",
     .options = "«mcpu=cortex-m4»",
     .tests = "e2e-cross, e2e-microcontroller",
     .note = "boards of QEMU with Cortex-M0, M3, M4, M7 and M55"},
    inQEMU({.architectures = {Triple::arm, Triple::thumb},
            .system = System::None,
            .name = "ARM, 32 bits, profiles A and R; no system",
            .triple = "armv7r-none-eabihf",
            .options = "«mcpu=cortex-r5»"}),
    inQEMU({.architectures = {Triple::riscv64},
            .system = System::Linux,
            .name = "RISC-V, 64 bits; Linux",
            .triple = "riscv64-linux-gnu",
            .options = "«mattr=+v»"}),
    inQEMU({.architectures = {Triple::riscv64},
            .system = System::None,
            .name = "RISC-V, 64 bits; no system",
            .triple = "riscv64-unknown-elf",
            .options = "«mattr=+f,+d»"}),
    inQEMU({.architectures = {Triple::riscv32},
            .system = System::Linux,
            .name = "RISC-V, 32 bits; Linux",
            .triple = "riscv32-linux-gnu"}),
    {.architectures = {Triple::riscv32},
     .system = System::None,
     .level = Tested,
     .name = "RISC-V, 32 bits; no system",
     .triple = "riscv32-unknown-elf",
     .options = "«mattr=+m,-a,+c» «mabi=ilp32»",
     .tests = "e2e-cross, e2e-microcontroller",
     .note = "QEMU, and its board virt"},
    {.architectures = {Triple::wasm32},
     .system = System::None,
     .level = Tested,
     .name = "WebAssembly, a module for JavaScript",
     .triple = "wasm32-unknown-unknown",
     .options = "«mattr=+simd128»",
     .tests = "e2e-web, e2e-web-page",
     .note = "Node.js, Chromium"},
    scalarOnLinux({.architectures = {Triple::ppc64le},
                   .name = "PowerPC, 64 bits, little-endian; Linux",
                   .triple = "powerpc64le-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::mips64el},
                   .name = "MIPS, 64 bits, little-endian; Linux",
                   .triple = "mips64el-linux-gnuabi64",
                   .note = "QEMU, ABIs n64 and n32; scalar code"}),
    scalarOnLinux({.architectures = {Triple::mipsel},
                   .name = "MIPS, 32 bits, little-endian; Linux",
                   .triple = "mipsel-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::loongarch64},
                   .name = "LoongArch, 64 bits; Linux",
                   .triple = "loongarch64-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::hexagon},
                   .name = "Hexagon; Linux",
                   .triple = "hexagon-unknown-linux-musl"}),
    scalarOnLinux({.architectures = {Triple::ppc64},
                   .name = "PowerPC, 64 bits; Linux",
                   .triple = "powerpc64-linux-gnu",
                   .note = "QEMU, ABIs ELFv1 and v2; scalar code"}),
    scalarOnLinux({.architectures = {Triple::ppc},
                   .name = "PowerPC, 32 bits; Linux",
                   .triple = "powerpc-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::mips64},
                   .name = "MIPS, 64 bits; Linux",
                   .triple = "mips64-linux-gnuabi64"}),
    scalarOnLinux({.architectures = {Triple::mips},
                   .name = "MIPS, 32 bits; Linux",
                   .triple = "mips-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::systemz},
                   .name = "IBM Z; Linux",
                   .triple = "s390x-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::sparcv9},
                   .name = "SPARC, 64 bits; Linux",
                   .triple = "sparc64-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::aarch64_be},
                   .name = "AArch64, big-endian; Linux",
                   .triple = "aarch64_be-linux-gnu"}),
    scalarOnLinux({.architectures = {Triple::armeb, Triple::thumbeb},
                   .name = "ARM, 32 bits, big-endian; Linux",
                   .triple = "armebv7a-linux-gnueabihf",
                   .options = "«mattr=+neon»"}),

    untested({.architectures = {Triple::x86_64},
              .name = "x86-64; other systems, x32",
              .triple = "x86_64-unknown-freebsd"}),
    untested({.architectures = {Triple::x86},
              .name = "x86, 32 bits, with SSE2; other systems, none",
              .triple = "i686-pc-windows-msvc"}),
    untested({.architectures = {Triple::aarch64, Triple::aarch64_32},
              .name = "AArch64; other systems, addresses of 32 bits",
              .triple = "arm64-apple-tvos14"}),
    untested({.architectures = {Triple::arm, Triple::thumb},
              .name = "ARM, 32 bits; other systems",
              .triple = "armv7a-unknown-freebsd-gnueabihf"}),
    untested({.architectures = {Triple::riscv64, Triple::riscv32},
              .name = "RISC-V; other systems",
              .triple = "riscv64-linux-android35"}),
    untested(
        {.architectures = {Triple::wasm32},
         .name = "WebAssembly, an object for a system",
         .triple = "wasm32-wasi",
         .note = "the object is not linked; its code is that of a module"}),
    untested({.architectures = {Triple::wasm64},
              .name = "WebAssembly, 64 bits",
              .triple = "wasm64-unknown-unknown",
              .note = "an object; modules for JavaScript have 32 bits"}),
    untested({.architectures = {Triple::ppc64le, Triple::ppcle, Triple::ppc64,
                                Triple::ppc},
              .name = "PowerPC; other systems, none, 32 bits little-endian",
              .triple = "powerpc64le-unknown-freebsd"}),
    untested({.architectures = {Triple::mips64el, Triple::mipsel,
                                Triple::mips64, Triple::mips},
              .name = "MIPS; other systems, none",
              .triple = "mipsel-none-elf"}),
    untested({.architectures = {Triple::loongarch64},
              .name = "LoongArch, 64 bits; other systems, none",
              .triple = "loongarch64-none-elf"}),
    untested({.architectures = {Triple::hexagon},
              .name = "Hexagon; no system",
              .triple = "hexagon-none-elf"}),
    untested({.architectures = {Triple::ve},
              .name = "NEC SX-Aurora",
              .triple = "ve-linux-gnu",
              .note = NO_EMULATOR}),
    untested({.architectures = {Triple::systemz, Triple::sparcv9},
              .name = "IBM Z, SPARC with 64 bits; other systems, none",
              .triple = "sparcv9-unknown-netbsd"}),
    untested({.architectures = {Triple::sparc, Triple::sparcel},
              .name = "SPARC, 32 bits",
              .triple = "sparc-linux-gnu",
              .note = "lld does not link it"}),
    untested(
        {.architectures = {Triple::aarch64_be, Triple::armeb, Triple::thumbeb},
         .name = "ARM and AArch64, big-endian; other systems, none",
         .triple = "armebv7r-none-eabihf",
         .options = "«mcpu=cortex-r5»"}),
    untested({.architectures = {Triple::lanai},
              .name = "Lanai",
              .triple = "lanai",
              .note = NO_EMULATOR}),

    {.architectures = {Triple::xtensa},
     .name = "Xtensa, as in the ESP32, S2 and S3",
     .triple = "xtensa-esp32-elf",
     .note = INCOMPLETE,
     .near = NEAR_XTENSA},
    {.architectures = {Triple::avr},
     .name = "AVR",
     .triple = "avr",
     .note = NARROW,
     .near = NEAR_NARROW},
    {.architectures = {Triple::msp430},
     .name = "MSP430",
     .triple = "msp430",
     .note = NARROW,
     .near = NEAR_NARROW},
    {.architectures = {Triple::bpfel, Triple::bpfeb},
     .name = "BPF",
     .triple = "bpfel",
     .note = "it has neither floats nor functions with more than five "
             "arguments"},
    gpu({.architectures = {Triple::amdgcn, Triple::r600},
         .name = "GPUs of AMD",
         .triple = "amdgcn-amd-amdhsa"}),
    gpu({.architectures = {Triple::nvptx64, Triple::nvptx},
         .name = "GPUs of NVIDIA",
         .triple = "nvptx64-nvidia-cuda"}),
    gpu({.architectures = {Triple::spirv64, Triple::spirv32, Triple::spirv,
                           Triple::spir64, Triple::spir, Triple::dxil},
         .name = "SPIR-V, SPIR, DXIL",
         .triple = "spirv64-unknown-unknown"}),
    gpu({.architectures = {Triple::amdil, Triple::amdil64, Triple::hsail,
                           Triple::hsail64, Triple::renderscript32,
                           Triple::renderscript64},
         .name = "AMDIL, HSAIL, RenderScript",
         .triple = "amdil"}),
    {.architectures = {Triple::loongarch32},
     .name = "LoongArch, 32 bits",
     .triple = "loongarch32-unknown-elf",
     .note = "its ABI is a draft in LLVM",
     .near = "«target=loongarch64-linux-gnu»"},
    {.architectures = {Triple::m68k},
     .name = "Motorola 68000",
     .triple = "m68k-linux-gnu",
     .note = INCOMPLETE},
    {.architectures = {Triple::xcore},
     .name = "XCore",
     .triple = "xcore",
     .note = "LLVM writes no objects for it"},
    {.architectures = {Triple::arc, Triple::csky, Triple::tce, Triple::tcele},
     .name = "ARC, C-SKY, TCE",
     .triple = "arc",
     .note = NO_GENERATOR},
    {.architectures = {Triple::le32, Triple::le64, Triple::kalimba,
                       Triple::shave},
     .name = "le32, le64, Kalimba, SHAVE",
     .triple = "le32",
     .note = NO_GENERATOR},
};

llvm::ArrayRef<TargetSupport> glowish::listTargets() { return targets; }
