//===- ImportedOp.h - An operator of a model being imported -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_IMPORTEDOP_H
#define GLOWISH_LIB_IMPORTER_COMMON_IMPORTEDOP_H

#include "Common/Axes.h"
#include "Common/Folding.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/Variables.h"
#include "glowish/Support/Error.h"

namespace glowish {

/// State that the operators of a function share during import.
struct ImportBasis {
  /// Evaluates shape arithmetic; null if nothing is folded.
  const NodeEvaluator &evaluate;
  FoldingBudget &budget;
  /// Whether Dropout and the like are kept.
  bool isTraining = false;
  /// Initial values of variables; null unless the model is imported for
  /// training.
  const VariableValues *variables = nullptr;
};

/// An operator of a model of any format, which is imported as nodes that the
/// expressions of a NodeBuilder create. The first error is kept and returned
/// with the outputs; the caller adds the names of node and operator. A format
/// derives from it how its files state operands, attributes and results.
class ImportedOp : public NodeBuilder {
public:
  ImportedOp(Function &function, llvm::StringRef name, const ImportBasis &basis)
      : NodeBuilder(function, name), module(function.getModule()),
        basis(basis) {}

  /// Returns the ranges of the symbols in extents.
  const SymbolRanges &getSymbols() const { return module.getSymbols(); }
  /// Whether the model is imported for training.
  bool isTraining() const { return basis.isTraining; }

  //===- Inputs -------------------------------------------------------------//

  virtual unsigned getNumInputs() const = 0;
  /// Returns input \p index, or null if it is absent.
  virtual NodeValue input(unsigned index) const = 0;
  DimsRef getShape(unsigned index) const { return input(index).getShape(); }
  ElemKind getKind(unsigned index) const { return input(index).getElemKind(); }

  /// Returns the elements of input \p index, which must be a constant. A
  /// variable counts as the constant that it is without training.
  llvm::Expected<const Tensor *> getConstant(unsigned index) const;
  /// Returns getConstant(\p index) with shared ownership.
  llvm::Expected<std::shared_ptr<const Tensor>>
  getConstantPayload(unsigned index) const;
  /// Returns the constant input \p index, of a rank up to \p mostRank, as a
  /// list of integers in row-major order; a scalar is a list of one.
  llvm::Expected<std::vector<int64_t>>
  getConstantInts(unsigned index, unsigned mostRank = 1) const;
  /// Returns the single integer of the constant input \p index.
  llvm::Expected<int64_t> getConstantInt(unsigned index) const;
  /// Returns the single element of the constant input \p index.
  llvm::Expected<double> getConstantNumber(unsigned index) const;
  /// Returns the one of \p rank dimensions that the constant input \p index
  /// states.
  llvm::Expected<int64_t> getConstantAxis(unsigned index, size_t rank) const;
  /// Returns the integers of input \p index, each a number or an expression of
  /// the symbols that inputs of the model state.
  llvm::Expected<std::vector<Extent>> getExtents(unsigned index) const;
  /// Returns the same, and none in the place of integers that runs state.
  llvm::Expected<std::vector<std::optional<Extent>>>
  findEachExtent(unsigned index) const;

  //===- Refusals -----------------------------------------------------------//

  /// Returns an error that states what input \p index is, and what is
  /// \p accepted.
  llvm::Error refuseInput(unsigned index, const llvm::Twine &accepted) const;
  /// Return an error unless input \p index is as stated.
  llvm::Error checkRank(unsigned index, unsigned rank) const;
  llvm::Error checkKind(unsigned index,
                        llvm::ArrayRef<ElemKind> accepted) const;
  llvm::Error checkFloat(unsigned index) const;
  llvm::Error checkIntegers(unsigned index) const;
  /// Returns an error if a run decides the extent of one of dimensions \p dims
  /// of input \p index. \p why, if any: "the filter needs all channels".
  llvm::Error checkKnown(unsigned index, llvm::ArrayRef<int64_t> dims,
                         llvm::StringRef why = "") const;

  //===- Creating nodes -----------------------------------------------------//

  using NodeBuilder::createConstant;
  using NodeBuilder::keep;
  NodeValue createConstant(std::shared_ptr<const Tensor> tensor);
  /// Returns a constant of \p kind and \p shape with the elements \p values,
  /// which may be integers that a double does not have.
  NodeValue ints(ElemKind kind, DimsRef shape, llvm::ArrayRef<int64_t> values);
  /// Creates the element-wise node of \p kind, whose record names the operator:
  /// with \p operands, and the numbers that the model states by the names of
  /// the attributes, or \p defaults. Null if an operand is.
  NodeValue makeRecorded(NodeKind kind, llvm::ArrayRef<NodeValue> operands,
                         llvm::ArrayRef<double> defaults);
  /// Returns \p value in all elements of the dimensions of \p type.
  NodeValue splatLike(ElemKind kind, const Type &type, double value);
  /// Returns an error if the importer must not create a constant of \p bytes
  /// that is not in the file. Call it before allocating the constant.
  llvm::Error checkBudget(int64_t bytes) { return basis.budget.check(bytes); }

protected:
  /// Returns the name that the model gives input \p index; empty if it is
  /// absent.
  virtual llvm::StringRef getInputName(unsigned index) const = 0;
  /// Returns what input \p index is, in a message.
  virtual std::string describeInput(unsigned index) const;
  /// Returns the number that the model states by \p name, or \p defaultValue.
  /// Keeps an error if it states something else.
  virtual double readNumber(llvm::StringRef name, double defaultValue) = 0;
  /// Creates a node, which is folded if its operands are constants.
  llvm::Expected<NodeValue> create(NodeDraft draft) override;
  llvm::Expected<NodeValue> createNamed(llvm::StringRef name, NodeDraft draft);
  llvm::Error checkConstant(const Type &type) override {
    return checkBudget(type.getSizeInBytes());
  }

private:
  /// Returns input \p index in a message: "input 2 ('x')".
  std::string nameInput(unsigned index) const;

  Module &module;
  ImportBasis basis;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_IMPORTEDOP_H
