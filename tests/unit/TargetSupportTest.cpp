//===- TargetSupportTest.cpp - The targets that are tested, or refused ----===//

#include "glowish/Backends/CPU/TargetSupport.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace glowish;
using llvm::Triple;
using testing::HasSubstr;
using testing::MatchesRegex;

/// The options of \p target, as the tools have them.
static TargetOptions getOptions(const TargetSupport &target) {
  TargetOptions options;
  options.triple = target.triple.str();
  llvm::SmallVector<llvm::StringRef> words;
  target.options.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    EXPECT_TRUE(word.consume_front("«") && word.consume_back("»"));
    auto [name, value] = word.split('=');
    if (name == "mcpu") {
      options.cpu = value.str();
    } else if (name == "mabi") {
      options.abi = value.str();
    } else {
      EXPECT_EQ(name, "mattr");
      for (llvm::StringRef each : llvm::split(value, ','))
        options.attributes.push_back(each.str());
    }
  }
  return options;
}

TEST(TargetSupport, CoversEveryArchitectureAndSystem) {
  for (int arch = 1; arch <= Triple::LastArchType; ++arch)
    for (int system = 0; system <= Triple::LastOSType; ++system) {
      Triple triple;
      triple.setArch(Triple::ArchType(arch));
      triple.setOS(Triple::OSType(system));
      EXPECT_TRUE(llvm::any_of(listTargets(), [&](const auto &each) {
        return each.isFor(triple);
      })) << triple.str();
    }
}

TEST(TargetSupport, HasTheTargetsOfItsExamples) {
  for (const TargetSupport &target : listTargets()) {
    Triple triple(Triple::normalize(target.triple));
    EXPECT_EQ(&getTargetSupport(triple), &target) << target.triple.str();
    if (target.level != SupportLevel::Refused)
      EXPECT_EQ(getTargetWarning(triple).empty(),
                target.level == SupportLevel::Tested)
          << target.triple.str();
    EXPECT_EQ(target.tests.empty(), target.level != SupportLevel::Tested)
        << target.triple.str();
    EXPECT_FALSE(target.note.empty()) << target.triple.str();
  }
}

TEST(TargetSupport, IsWhatTheBackendAccepts) {
  for (const TargetSupport &target : listTargets()) {
    auto backend = CPUBackend::create(getOptions(target));
    if (target.level != SupportLevel::Refused) {
      ASSERT_TRUE(bool(backend)) << llvm::toString(backend.takeError());
      continue;
    }
    ASSERT_FALSE(bool(backend)) << target.triple.str();
    EXPECT_THAT(llvm::toString(backend.takeError()),
                MatchesRegex("«target=" + target.triple.str() +
                             "»: refused [^\n]*; accepted: [^\n]*"));
  }
}

TEST(TargetSupport, WarnsOfUnknownSystems) {
  for (llvm::StringRef name : {"aarch64-linx-gnu", "x86_64-pc-linxu",
                               "riscv64-foo-musl", "arm-none-androideabi"})
    EXPECT_THAT(getTargetWarning(Triple(Triple::normalize(name))),
                HasSubstr("no system that LLVM knows"))
        << name.str();
  for (llvm::StringRef name :
       {"aarch64", "aarch64-none-elf", "thumbv7m-none-eabi",
        "riscv32-unknown-elf", "riscv32-esp-elf", "x86_64-linux-musl"})
    EXPECT_EQ(getTargetWarning(Triple(Triple::normalize(name))), "")
        << name.str();
}
