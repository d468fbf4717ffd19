//===- ParsedModel.h - Models that are imported several times ---*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_PARSEDMODEL_H
#define GLOWISH_IMPORTER_PARSEDMODEL_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// A model that is parsed once and imported several times, for different values
/// of its symbolic dimensions. Errors begin with its name.
class ParsedModel {
public:
  virtual ~ParsedModel();

  /// Imports the model as ModelFormat::import does. The modules of a model
  /// share its weights.
  virtual llvm::Expected<std::unique_ptr<Module>>
  import(const ImportOptions &options) = 0;
  /// Like import(), but transfers the weights to the module and leaves this
  /// object empty.
  virtual llvm::Expected<std::unique_ptr<Module>>
  importLast(const ImportOptions &options) = 0;

  /// Whether a dimension of an input is \p symbol or an expression of it.
  virtual bool hasSymbol(llvm::StringRef symbol) const = 0;

  struct StatedInput {
    std::string name;
    ElemKind kind;
    /// Dimensions without a value are empty.
    std::vector<std::optional<int64_t>> shape;
  };
  /// Returns the inputs, except weights, as declared by the model and
  /// \p options.
  virtual llvm::Expected<std::vector<StatedInput>>
  getStatedInputs(const ImportOptions &options) const = 0;

  /// An input or output as the model declares it.
  struct DeclaredValue {
    std::string name;
    /// None if the model states none, or one that tensors don't have.
    std::optional<ElemKind> kind;
    /// Numbers, symbols and expressions of them; empty where nothing is stated.
    /// None if the model does not even state the rank.
    std::optional<std::vector<std::string>> dims;
  };
  /// Returns the inputs, except weights, and the outputs in the model's order.
  virtual std::vector<DeclaredValue> getDeclaredInputs() const = 0;
  virtual std::vector<DeclaredValue> getDeclaredOutputs() const = 0;

  struct Input {
    std::string name;
    Type type;
  };
  /// Returns the inputs, except weights, with their types under \p options.
  virtual llvm::Expected<std::vector<Input>>
  getInputs(const ImportOptions &options) const = 0;

protected:
  ParsedModel() = default;
  ParsedModel(ParsedModel &&) = default;
  ParsedModel &operator=(ParsedModel &&) = default;
};

/// The file of a model whose weights can be replaced, by those that a training
/// ends with.
class ModelWeights {
public:
  virtual ~ModelWeights();

  virtual bool has(llvm::StringRef name) const = 0;
  /// Replaces the elements of the weight \p name. The error names a weight that
  /// does not exist or has another type.
  virtual llvm::Error set(llvm::StringRef name, const Tensor &value) = 0;
  /// Writes the model as one file. Apart from the weights, it is as read. The
  /// file is written under a temporary name first.
  virtual llvm::Error write(llvm::StringRef path) = 0;

protected:
  ModelWeights() = default;
  ModelWeights(ModelWeights &&) = default;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_PARSEDMODEL_H
