//===- ModelSettings.h - What is stated of a model --------------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_MODELSETTINGS_H
#define GLOWISH_COMPILER_MODELSETTINGS_H

#include "glowish/Compiler/OperatorSettings.h"
#include "glowish/Driver/ModelFunctions.h"
#include "glowish/Driver/ModelVariants.h"
#include "glowish/Importer/ModelFormat.h"

namespace glowish {

/// How a model is imported.
class ModelSettings : public SettingGroup {
public:
  /// For the model at \p path; an error shows the right form, or says that a
  /// setting has no effect on such a model (\p format: null for a text form).
  /// Symbols with several values go to \p several. Warnings of the importer go
  /// nowhere until `warn` is set.
  llvm::Expected<ImportOptions>
  getImportOptions(llvm::StringRef path, const ModelFormat *format,
                   std::vector<SymbolValues> &several);
  /// Which function of a module is meant; empty where none is stated.
  llvm::StringRef getFunctionName() const { return functionName; }
  /// Returns the functions of a bundle of the models at \p paths that has
  /// several: those that -function or -method names, or one for each model.
  /// None where the bundle has one. See getImportOptions.
  llvm::Expected<std::vector<FunctionSource>>
  getFunctions(llvm::ArrayRef<std::string> paths,
               std::vector<SymbolValues> &several);

private:
  /// The function that is meant, of \p all those of a bundle: what is stated
  /// of `NAME:input` is for the function NAME alone. Empty where there is one.
  struct Scope {
    llvm::StringRef name;
    llvm::ArrayRef<std::string> all;
    std::vector<std::string> getOwn(const ListSetting &setting) const;
  };
  llvm::Expected<ImportOptions> readOptions(llvm::StringRef path,
                                            const ModelFormat *format,
                                            std::vector<SymbolValues> &several,
                                            const Scope &scope);
  llvm::Error readSymbols(ImportOptions &options,
                          std::vector<SymbolValues> &several,
                          const Scope &scope) const;
  llvm::Error readStates(ImportOptions &options, const Scope &scope) const;
  llvm::Expected<std::vector<std::string>>
  getFunctionNames(llvm::ArrayRef<std::string> paths) const;
  llvm::Error checkEffect(llvm::StringRef path,
                          const ModelFormat *format) const;

  /// The settings that models of one format alone have.
  struct OfFormat {
    const ModelFormat *format;
    std::unique_ptr<FormatSettings> settings;
    /// The settings of the format, which are members of this group, too.
    std::vector<Setting *> members;
  };
  std::vector<OfFormat> createFormatSettings();
  /// Puts the options of the format of the model at \p path into \p options; an
  /// error if a setting of another format is given. \p format is null for a
  /// text form.
  llvm::Error readFormatOptions(ImportOptions &options, llvm::StringRef path,
                                const ModelFormat *format) const;

  ListSetting symbols{
      *this, "define-symbol", "name,value,...",
      "Bind a symbolic dimension (may be repeated); with several values, the "
      "model is compiled for each, and in all combinations with other symbols; "
      "with low..high, each run states the extent, and values in front of that "
      "have code of their own (formerly «onnx-define-symbol»)"};
  SettingAlias formerSymbols{*this, "onnx-define-symbol", symbols};
  ListSetting modelInputs{
      *this, "model-input", "name,type[,scale,offset],[dims]",
      "State the type of an input: «model-input=data,float,[1,3,8,8]»; of a "
      "quantized one (int8q) with scale and offset. Dimensions may be "
      "expressions of symbols that «define-symbol» gives values (also "
      "«model-input-name»)"};
  SettingAlias glowModelInputs{*this, "model-input-name", modelInputs};
  ListSetting constantInputs{
      *this, "constant-input", "name,number|\"text\"",
      "Compile the model for one value of an input that is a number: an "
      "integer, a float or true or false; or a string, where the format has "
      "such inputs. The input is none of the program then, and what depends on "
      "it is decided"};
  ListSetting states{
      *this, "state", "input,output",
      "Keep an output as the input of the next run: one placeholder, written "
      "in place where that is possible; '*' stands for the same text in both "
      "names"};
  NumberSetting<int64_t> maxTripCount{
      *this,
      "max-trip-count",
      "N",
      "The most repetitions of a loop of which the model does not state any; a "
      "run that needs more is an error",
      0,
      atLeast(int64_t(1))};
  ListSetting maxExtents{
      *this, "max-extent", "name,N",
      "The largest extent of the dimensions of a value that are known only "
      "when the model runs and that nothing else bounds"};
  SwitchSetting strict{
      *this, "strict",
      "Warnings about the model are errors: declared types that its values do "
      "not have, attributes that are ignored, opsets that are not known"};
  TextSetting functionName{
      *this, "function", "name,...",
      "The function of a text form that has several; of a bundle several, each "
      "with an entry, or names for several models"};
  TextSetting methodName{
      *this, "method", "name,...",
      "The method of a module (default: forward, or the only one); of a bundle "
      "several, each with an entry"};
  OperatorSettings operators{*this};
  std::vector<OfFormat> formats = createFormatSettings();
};

/// What the setting \p name has been given, `name,value` each; the error shows
/// the form.
llvm::Error readNumbers(llvm::StringRef name, llvm::ArrayRef<std::string> texts,
                        std::map<std::string, int64_t> &numbers);

} // namespace glowish

#endif // GLOWISH_COMPILER_MODELSETTINGS_H
