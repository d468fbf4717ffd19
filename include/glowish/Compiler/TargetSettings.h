//===- TargetSettings.h - What code is made for -----------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_TARGETSETTINGS_H
#define GLOWISH_COMPILER_TARGETSETTINGS_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// The target of the CPU back end, and what its code may do.
class TargetSettings : public SettingGroup {
public:
  TargetOptions getOptions() const;
  /// For `target`, `mcpu` or `mattr` of help, the names that are accepted, a
  /// line each; else empty.
  llvm::Expected<std::string> getHelp() const;

private:
  TextSetting target{*this, "target", "triple",
                     "Target triple (default: host); help: list those that are "
                     "tested, accepted and refused"};
  TextSetting architecture{
      *this, "march", "name",
      "Architecture, in place of the triple's: aarch64, arm, riscv64, x86-64, "
      "..."};
  TextSetting cpu{
      *this, "mcpu", "name,...",
      "Target CPU (default: the host's, or generic); several of x86-64, "
      "x86-64-v2, x86-64-v3 and x86-64-v4: the bundle takes the best that its "
      "processor has"};
  ListSetting attributes{*this, "mattr", "features",
                         "Target features: +a,-b; help: list them (also "
                         "«target-feature»)",
                         Setting::Form::CommaList};
  SettingAlias glowAttributes{*this, "target-feature", attributes};
  TextSetting abi{*this, "mabi", "name", "Target ABI"};
  ChoiceSetting<llvm::FloatABI::ABIType> floatABI{
      *this,
      "float-abi",
      "How floats are passed",
      llvm::FloatABI::Default,
      {{llvm::FloatABI::Default, "default", "The target's"},
       {llvm::FloatABI::Soft, "soft", "In integer registers"},
       {llvm::FloatABI::Hard, "hard", "In float registers"}}};
  ChoiceSetting<llvm::Reloc::Model> relocationModel{
      *this,
      "relocation-model",
      "Relocations of the object (default: pic, or static where the target has "
      "no system)",
      llvm::Reloc::PIC_,
      {{llvm::Reloc::Static, "static", "Not relocatable"},
       {llvm::Reloc::PIC_, "pic", "Position independent"}}};
  NumberSetting<unsigned> numThreads{
      *this,
      "threads",
      "N",
      "Split kernels for this many threads (default 1). A bundle calls "
      "glowish_parallel_for for it: yours, or that of the glowish_threads.c "
      "which is written beside it; one for JavaScript has workers",
      1,
      inRange(1u, maxThreads)};
  ChoiceSetting<WinogradLimit> winograd{
      *this,
      "winograd",
      "Convolutions may be computed with fewer multiplications where that is "
      "faster (default 4)",
      WinogradLimit::F4,
      {{WinogradLimit::None, "off", "No: each output is a sum of products"},
       {WinogradLimit::F2, "2", "By F(2x2,3x3): no less exact"},
       {WinogradLimit::F4, "4",
        "By F(4x4,3x3) and F(2x2,5x5), too: errors are some 2 times larger"}}};
  SwitchSetting packWeightsOnce{
      *this, "pack-weights-once",
      "With several values of a symbolic dimension, pack each weight in one "
      "way for all of them, even where that makes some much slower"};
  SwitchSetting reproducible{
      *this, "reproducible",
      "Floats have the same bits on all 64-bit targets with a system and float "
      "vectors, on WebAssembly with simd128, and with any number of threads"};
  SwitchSetting roundEachStep{*this, "round-each-step",
                              "Round float16 and bfloat16 after each operator, "
                              "as the interpreter does; "
                              "else element-wise chains are computed in float "
                              "and rounded when they are "
                              "stored"};
  ChoiceSetting<llvm::CodeModel::Model> codeModel{
      *this,
      "code-model",
      "Code model of the object (also «bundle-code-model»)",
      llvm::CodeModel::Small,
      {{llvm::CodeModel::Small, "small", "Small"},
       {llvm::CodeModel::Medium, "medium", "Medium"},
       {llvm::CodeModel::Large, "large", "Large"}}};
  SettingAlias glowCodeModel{*this, "bundle-code-model", codeModel};
  SwitchSetting tune{
      *this, "tune",
      "Measure the algorithms of each convolution, and matmul with a constant "
      "matrix, on this machine, which must be able to run the target's code; "
      "with «tuning-file»"};
  TextSetting tuningFile{
      *this, "tuning-file", "file",
      "Take the measured choices in this file; with «tune», shapes that it "
      "lacks are measured and added"};
};

} // namespace glowish

#endif // GLOWISH_COMPILER_TARGETSETTINGS_H
