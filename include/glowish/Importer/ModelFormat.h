//===- ModelFormat.h - File formats of models -------------------*- C++ -*-===//
//
// A format registers all that there is of it. The driver, the compiler and the
// tools name none: they ask for the format of a model, or for all.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IMPORTER_MODELFORMAT_H
#define GLOWISH_IMPORTER_MODELFORMAT_H

#include "glowish/Importer/ParsedModel.h"
#include "glowish/Support/Setting.h"

namespace glowish {

/// The settings of a format. They are members of the class that is derived from
/// this one, and belong to the group that it is created for.
class FormatSettings {
public:
  virtual ~FormatSettings();
  /// Returns what the settings state.
  virtual std::shared_ptr<const FormatOptions> getOptions() const = 0;
};

/// The operators that models may have. Formats may share a list.
struct OperatorList {
  /// The value of -list-operators that prints it.
  llvm::StringLiteral name;
  /// Follows the name in help; may be empty: "with opsets".
  llvm::StringLiteral description;
  /// Prints the list as a page in Markdown.
  void (*print)(llvm::raw_ostream &os);
};

/// Bytes that all files of a kind have at one place.
struct MagicBytes {
  llvm::StringLiteral bytes;
  size_t offset = 0;
};

/// A file format that models are imported from.
struct ModelFormat {
  /// Name in messages: "a NAME model".
  llvm::StringLiteral name;
  /// The model that a user gives, for help: "an ONNX file".
  llvm::StringLiteral description;
  /// Ends of the names of its files: ".tflite". They decide where no contents
  /// do.
  std::vector<llvm::StringLiteral> extensions = {};
  /// Magic bytes, any of which makes a file one of this format, whatever its
  /// name is.
  std::vector<MagicBytes> magic = {};
  /// Returns whether \p path with the contents \p bytes, empty for a folder, is
  /// a model of this format and of no other. May be null.
  bool (*recognizes)(llvm::StringRef path, llvm::StringRef bytes) = nullptr;
  /// Whether this is the format of files that no format recognizes. One is.
  bool takesOthers = false;

  /// Imports the model at \p path as a module with one function, "main". Files
  /// are read by readFile(), so that \p path may be a MemoryFile.
  llvm::Expected<std::unique_ptr<Module>> (*import)(
      llvm::StringRef path, const ImportOptions &options);
  /// Parses the model at \p path. Symbolic dimensions may then have several
  /// values or ranges, so that there are several programs of a model, and
  /// outputs become states by their names. Null where models are imported once.
  llvm::Expected<std::unique_ptr<ParsedModel>> (*parse)(llvm::StringRef path) =
      nullptr;
  /// Opens the model at \p path to replace its weights; null where a trained
  /// model can't be written in this format.
  llvm::Expected<std::unique_ptr<ModelWeights>> (*openWeights)(
      llvm::StringRef path) = nullptr;
  /// Whether models may have symbolic dimensions, which options give values.
  bool hasSymbols = false;
  /// Whether a model may be two files, ImportOptions::secondFile being one.
  bool hasSecondFile = false;
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
  /// May be null.
  const OperatorList *operators = nullptr;
  /// Creates the settings that models of this format alone have, in \p group;
  /// null where there are none.
  std::unique_ptr<FormatSettings> (*createSettings)(SettingGroup &group) =
      nullptr;
};

/// Registers a format, in the file of its importer, as a static object.
class ModelFormatRegistration {
public:
  explicit ModelFormatRegistration(const ModelFormat &format);
};

/// A kind of file that users give although no model can be imported from it.
struct ForeignFile {
  /// Description for messages: "a GGUF file, ...".
  llvm::StringLiteral description;
  /// Advice for messages: "export the model to ONNX".
  llvm::StringLiteral advice;
  std::vector<MagicBytes> magic = {};
  /// Returns whether \p path with the contents \p bytes, empty for a folder, is
  /// such a file; null where magic says it.
  bool (*recognizes)(llvm::StringRef path, llvm::StringRef bytes) = nullptr;
};

/// Registers a kind of file that is no model.
class ForeignFileRegistration {
public:
  explicit ForeignFileRegistration(const ForeignFile &file);
};

/// Returns all formats, sorted by their names.
std::vector<const ModelFormat *> listModelFormats();
/// Returns the names of the formats that \p hasAll accepts: "A, B or C".
std::string
joinFormatNames(llvm::function_ref<bool(const ModelFormat &)> hasAll);
/// Returns the lists of operators, sorted by their names.
std::vector<const OperatorList *> listOperatorLists();

/// Returns the format that the file \p path is recognized to have, by its
/// contents and its name; null if there is none. \p path is no text form
/// (.graph). An error says what the file is if it is no model.
llvm::Expected<const ModelFormat *> recognizeModel(llvm::StringRef path);
/// Returns the format of \p path: recognizeModel(), or that of all other files.
llvm::Expected<const ModelFormat *> getModelFormat(llvm::StringRef path);

/// Returns an error if \p options state strings for inputs of the model
/// \p path and its format has none.
llvm::Error checkConstantTexts(llvm::StringRef path,
                               const ImportOptions &options);

/// ModelFormat::listFiles of the format of \p path.
llvm::Expected<std::vector<std::string>>
listModelFiles(llvm::StringRef path, const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_IMPORTER_MODELFORMAT_H
