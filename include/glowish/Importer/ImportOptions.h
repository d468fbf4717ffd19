//===- ImportOptions.h - Options of the importers ---------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_IMPORTOPTIONS_H
#define GLOWISH_IMPORTER_IMPORTOPTIONS_H

#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/Variables.h"
#include "glowish/Importer/FusedRows.h"
#include "glowish/Importer/PlaceholderLayout.h"
#include "glowish/Plugin/ExternalOperator.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

namespace glowish {

class KeyHasher;

/// An output of a model that is a sequence of tensors. Element i is the output
/// NAME.i of the module.
struct SequenceOutput {
  std::string name;
  /// Its position among the model's outputs.
  size_t index = 0;
  size_t length = 0;
};

/// An output that is the input of the next run. In both names '*' may stand for
/// the same text.
struct StateNames {
  std::string input, output;
};

/// Options that models of one format alone have.
class FormatOptions {
public:
  virtual ~FormatOptions();
  /// Returns ModelFormat::name.
  virtual llvm::StringRef getFormatName() const = 0;
  /// Adds all options to \p key.
  virtual void addTo(KeyHasher &key) const = 0;
};

struct ImportOptions {
  /// The method of a module (-method); empty for forward(), or the only one.
  std::string method;
  /// The second file of a model given as two files, weights and net in either
  /// order; empty if there is none.
  std::string secondFile;
  /// Values of symbolic dimensions (-define-symbol=name,value).
  std::map<std::string, int64_t> symbols;
  /// Bounds of symbolic dimensions whose extents each run states
  /// (-define-symbol=name,low..high). Each becomes an input of the module,
  /// int64<>, before the first input that depends on it.
  std::map<std::string, IntRange> symbolRanges;
  /// The placeholders of an import of the model with these symbols and larger
  /// ranges, which this import's are made like; null for its own. A range may
  /// then have a single value.
  std::shared_ptr<const PlaceholderLayout> layout;
  /// Outputs that become one placeholder with an input (-state=input,output),
  /// which keeps them for the next run.
  std::vector<StateNames> states;
  /// Types of inputs that replace or complete those of the model
  /// (-model-input=name,type,[dims]). It is an error if the model has no such
  /// input.
  std::map<std::string, Type> inputTypes;
  /// The symbols of the dimensions that options state for these, also those
  /// with a single value, of which the types have none.
  std::set<std::string> typeSymbols;
  /// Inputs with a fused row format (-model-input=name,UInt8FusedQ,[dims]),
  /// whose type in inputTypes is uint8.
  std::map<std::string, const FusedRows *> fusedInputs;
  /// Inputs that are replaced by constants, for inputs that determine shapes.
  std::map<std::string, std::shared_ptr<const Tensor>> constantInputs;
  /// Inputs that are strings, and what they are.
  std::map<std::string, std::string> constantTexts;
  /// The operators that glowish does not know (-operators, -external); null for
  /// none.
  std::shared_ptr<const ExternalOperators> operators;
  /// Maximum trip count of loops for which the model states none
  /// (-max-trip-count); 0 if unknown.
  int64_t maxTripCount = 0;
  /// Upper bounds of dynamic dimensions that the model does not bound
  /// (-max-extent=name,N), by the names of values in the model. A bound holds
  /// for each dynamic dimension of the value.
  std::map<std::string, int64_t> maxExtents;
  /// Types of the tensors that will be passed at run time, by name and by
  /// position. They bind dimensions that nothing above binds. If inputs share a
  /// symbolic dimension, binding one binds the others.
  std::map<std::string, Type> givenTypes;
  std::vector<Type> givenTypesInOrder;
  /// Options of the model's format alone; null for their defaults.
  std::shared_ptr<const FormatOptions> ofFormat;
  /// If not null, the model is imported for training: initializers of float
  /// kinds become variables (placeholders that are both inputs and outputs)
  /// with these initial values. Normalizations keep their fixed statistics, and
  /// Dropout is kept as a node.
  VariableValues *variables = nullptr;
  /// If not null, receives the outputs that are sequences, in the model's
  /// order.
  std::vector<SequenceOutput> *sequenceOutputs = nullptr;
  /// Evaluates shape arithmetic; folding is disabled if null.
  NodeEvaluator evaluate;
  /// Called with a one-line message for each part of the model that is ignored
  /// or contradicts what is computed. These are warnings of the log, too.
  std::function<void(llvm::StringRef)> warn;
  /// The messages are known from another import of the model, and not repeated.
  bool isRepeated = false;
  /// Makes these messages errors (-strict).
  bool isStrict = false;

  /// Whether a message is passed on, or an error.
  bool hasWarnings() const;
  /// Passes the one-line message \p line to warn and to the log.
  void tell(llvm::StringRef line) const;
  /// Passes \p line on as tell() does, or returns it as an error if warnings
  /// are errors.
  llvm::Error report(llvm::StringRef line) const;
};

/// Returns the options of the format that \p T is for, T::formatName.
template <typename T> const T &getFormatOptions(const ImportOptions &options) {
  static const T initial;
  const FormatOptions *own = options.ofFormat.get();
  return own && own->getFormatName() == T::formatName
             ? static_cast<const T &>(*own)
             : initial;
}

} // namespace glowish

#endif // GLOWISH_IMPORTER_IMPORTOPTIONS_H
