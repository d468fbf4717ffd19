//===- ModelFormat.h - File formats of models -------------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_MODELFORMAT_H
#define GLOWISH_IMPORTER_MODELFORMAT_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// A file format that models are imported from.
struct ModelFormat {
  /// In messages: "a NAME model".
  llvm::StringLiteral name;
  /// Whether \p path is a model of this format and of no other; null for the
  /// format of all other files.
  bool (*isPath)(llvm::StringRef path);
  /// Imports the model at \p path as a module with one function, "main".
  llvm::Expected<std::unique_ptr<Module>> (*import)(
      llvm::StringRef path, const ImportOptions &options);
  /// Whether models may have symbolic dimensions, which options give values.
  bool hasSymbols = false;
  /// Whether symbols may also have several values or ranges, so that there are
  /// several programs of a model, and outputs become states by their names.
  bool hasVariants = false;
  /// Whether a model is a module, of which options state the method.
  bool hasMethods = false;
  /// Whether its inputs may be strings.
  bool hasTexts = false;
  /// A function of a bundle, and how it is imported.
  struct Function {
    llvm::StringRef path;
    const ImportOptions &options;
  };
  /// Imports functions that keep their states together, as import() each:
  /// states of one name are one, also where a function only reads it. They are
  /// methods of one model, or of several where models share states. Null where
  /// each function is imported by itself.
  llvm::Expected<std::vector<std::unique_ptr<Module>>> (*importTogether)(
      llvm::ArrayRef<Function> functions) = nullptr;
  /// Whether models that are given together share the states of one name.
  bool sharesStates = false;
  /// Lists the model's files, \p path among them: all that import() would read.
  /// Null where that is \p path alone.
  llvm::Expected<std::vector<std::string>> (*listFiles)(
      llvm::StringRef path, const ImportOptions &options) = nullptr;
  /// Returns the path of a library that import() reads the files with, which
  /// has a build of its own; null where there is none. What is imported depends
  /// on it, the model's files, and the options alone.
  std::string (*getReaderPath)() = nullptr;
};

/// Registers a format, in the file of its importer, as a static object.
class ModelFormatRegistration {
public:
  explicit ModelFormatRegistration(const ModelFormat &format);
};

/// The format of \p path, which is no text form (.graph).
const ModelFormat &getModelFormat(llvm::StringRef path);

/// Returns an error if \p options state strings for inputs of the model
/// \p path and its format has none.
llvm::Error checkConstantTexts(llvm::StringRef path,
                               const ImportOptions &options);

/// ModelFormat::listFiles of the format of \p path.
llvm::Expected<std::vector<std::string>>
listModelFiles(llvm::StringRef path, const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_IMPORTER_MODELFORMAT_H
