//===- BundleSettings.h - How a bundle is written ---------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_BUNDLESETTINGS_H
#define GLOWISH_COMPILER_BUNDLESETTINGS_H

#include "glowish/Compiler/BundleCompilation.h"
#include "glowish/Compiler/TrainingSettings.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// The form of a bundle.
class BundleSettings : public SettingGroup {
public:
  /// For the model at \p modelPath, which names the network where no setting
  /// does. An error names a setting that can't be a name in C.
  llvm::Expected<BundleOptions> getOptions(llvm::StringRef folder,
                                           llvm::StringRef modelPath) const;
  bool hasEntryName() const { return entryName.isGiven(); }
  /// BundleRequest::certificate.
  std::optional<std::string> getCertificate() const {
    return certificate.isGiven() ? std::optional(certificate.getValue())
                                 : std::nullopt;
  }

private:
  TextSetting networkName{
      *this, "network-name", "name",
      "Name of the files and prefix of the symbols (default: the model's file "
      "name)"};
  TextSetting entryName{
      *this, "main-entry-name", "name",
      "Name of the entry function (default: the network's name)"};
  ChoiceSetting<BundleApi> api{
      *this,
      "bundle-api",
      "What the header offers",
      BundleApi::Static,
      {{BundleApi::Static, "static",
        "Macros: sizes and offsets at compile time"},
       {BundleApi::Dynamic, "dynamic",
        "A configuration struct with a symbol table"}}};
  ChoiceSetting<BundleWeights> weights{
      *this,
      "weights",
      "Where the weights go",
      BundleWeights::File,
      {{BundleWeights::File, "file",
        "NAME.weights.bin; of up to 1 MiB, for the static API, also "
        "NAME.weights.txt, to be included in an array"},
       {BundleWeights::Text, "text",
        "NAME.weights.bin and NAME.weights.txt of any size"},
       {BundleWeights::Embed, "embed",
        "Into the object, as the array NAME_weights"}}};
  SwitchSetting listsConstants{
      *this, "bundle-api-verbose",
      "List the constants in the header's first comment"};
  SwitchSetting savesAssembly{*this, "llvm-save-asm",
                              "Write the assembly, NAME.s, too"};
  TextSetting certificate{
      *this,
      "verify-plan",
      "file",
      "Prove that the memory plan is right: no two live buffers overlap, and "
      "every read follows a write; write the facts that this is about to a "
      "file, if one is stated, for tests/check_plan.py",
      "",
      Setting::Form::OptionalValue};
};

/// What makes a bundle one that learns.
class TrainingBundleSettings : public SettingGroup {
public:
  bool isTraining() const { return train; }
  /// For a bundle of \p bundle that does steps of \p training, with kind and
  /// shape of the label where they are stated; nullopt for one that does not
  /// learn. An error names a setting that has no effect.
  llvm::Expected<std::optional<TrainingRequest>>
  getRequest(const TrainingSettings &training,
             const BundleSettings &bundle) const;

private:
  llvm::Error checkEffects(const TrainingSettings &training,
                           const BundleSettings &bundle) const;
  llvm::Error readLabelType(TrainingConfig &config) const;

  SwitchSetting train{
      *this, "train",
      "Write a bundle that infers and learns: NAME_infer and NAME_train_step "
      "on the same weights"};
  enum class Gradients { Internal, External };
  ChoiceSetting<Gradients> gradients{
      *this,
      "gradients",
      "With «train»: what becomes of the gradients",
      Gradients::Internal,
      {{Gradients::Internal, "internal",
        "NAME_train_step applies them (default)"},
       {Gradients::External, "external",
        "NAME_gradients computes them, the application may change them, and "
        "NAME_update applies them"}}};
  ListSetting stepSymbols{
      *this, "train-define-symbol", "name,value",
      "Bind a symbolic dimension in the training step, where it differs from "
      "inference (may be repeated)"};
  TextSetting labelType{*this, "label-type", "type,[dims]",
                        "Type of the label, where it is not what «loss» says: "
                        "«label-type=int64,[32]»"};
};

} // namespace glowish

#endif // GLOWISH_COMPILER_BUNDLESETTINGS_H
