//===- AtenBuilder.h - Builds programs of ATen's operators ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_FORMS_ATEN_ATENBUILDER_H
#define GLOWISH_TESTS_FUZZ_RANGES_FORMS_ATEN_ATENBUILDER_H

#include "AtenProgram.h"

namespace glowish::fuzz {

/// Arguments that have names.
using AtenNamed = std::vector<std::pair<std::string, AtenArg>>;

/// Builds the program of a model. Choices between ways to write the same are
/// made by the names of values, so that a model is always written the same.
class AtenBuilder {
public:
  AtenBuilder(const TypedModel &model, AtenDialect dialect);

  AtenDialect dialect;
  bool isScript() const { return dialect == AtenDialect::Script; }
  /// Whether \p node is one of \p percent percent of all nodes; another
  /// \p salt asks for other ones.
  bool chance(const FormNode &node, unsigned percent, unsigned salt = 0) const;

  //===- Tensors ----------------------------------------------------------===//

  /// Input \p index of \p node, which some operators have been applied to that
  /// leave it as it is, at times.
  AtenArg getInput(const FormNode &node, unsigned index);
  const AtenTensorType &getType(const AtenArg &tensor) const;
  int64_t getRank(const AtenArg &tensor) const {
    return getType(tensor).getRank();
  }
  /// Calls an operator with one tensor as a result.
  AtenArg call(llvm::StringRef op, AtenArg::List arguments, AtenTensorType type,
               AtenNamed named = {});
  /// Calls an operator with several results.
  AtenArg::List callAll(llvm::StringRef op, AtenArg::List arguments,
                        AtenResult form, std::vector<AtenTensorType> types);
  /// Adds the call whose result is that of \p node: a translator's last one.
  void finish(const FormNode &node, llvm::StringRef op, AtenArg::List arguments,
              AtenNamed named = {});
  /// Adds a last call with several results.
  void finishAll(const FormNode &node, llvm::StringRef op,
                 AtenArg::List arguments, AtenResult form,
                 AtenNamed named = {});
  /// Adds a result that nothing uses to the last call.
  void addResult(AtenTensorType type);
  /// Makes the last call one that a branch or a loop has.
  void enclose(const FormNode &node);
  /// Calls an operator that writes to its first argument.
  void write(llvm::StringRef op, AtenArg::List arguments);
  /// The element-wise operator \p op of one tensor, with numbers behind it.
  AtenArg callUnary(llvm::StringRef op, const AtenArg &x,
                    AtenArg::List more = {});
  /// Adds a call of two tensors that broadcast.
  AtenArg callBinary(llvm::StringRef op, const AtenArg &x, const AtenArg &y);
  AtenArg cast(const AtenArg &x, ElemKind kind);
  AtenArg permute(const AtenArg &x, llvm::ArrayRef<int64_t> perm);
  AtenArg unsqueeze(const AtenArg &x, int64_t dim);
  AtenArg flip(const AtenArg &x, int64_t dim);

  //===- Numbers ----------------------------------------------------------===//

  /// The elements of an integer value of the model, where these are extents and
  /// what is computed of them.
  std::optional<std::vector<Extent>> findInts(const std::string &value) const;
  /// The number of a scalar constant; none where it is none or not finite.
  std::optional<AtenArg> findScalar(const FormNode &node, unsigned index) const;
  /// An int that is \p extent; none where no tensor has the symbols alone.
  std::optional<AtenArg> makeNumber(const Extent &extent);
  std::optional<AtenArg> makeNumbers(llvm::ArrayRef<Extent> extents);
  /// An int64 tensor of these elements, a scalar if \p isScalar.
  std::optional<AtenArg> makeTensor(llvm::ArrayRef<Extent> elements,
                                    bool isScalar);

  /// Notes what is known of the result of \p node, if it is an int.
  void noteInts(const FormNode &node);
  const TypedModel &model;
  AtenProgram program;

private:
  AtenArg takeDetour(const AtenArg &x, uint64_t choice);
  std::string makeName(llvm::StringRef prefix) {
    return (prefix + llvm::Twine(nextName++)).str();
  }
  std::optional<AtenArg> computeNumber(const Extent &extent);
  AtenArg computeAgain(const AtenArg &number, const Extent &extent);
  /// Calls an operator of ints whose result is \p extent, unless there is such
  /// a number and \p isNew is false.
  AtenArg callNumber(llvm::StringRef op, AtenArg::List arguments,
                     const Extent &extent, bool isNew = false);

  std::map<std::string, std::vector<Extent>> ints;
  /// Numbers that the program has computed.
  std::map<Extent, AtenArg> numbers;
  unsigned nextName = 0;
};

/// Adds the calls that compute a node; false where it has no counterpart with
/// its operands and attributes.
using AtenTranslator = bool (*)(AtenBuilder &, const FormNode &);
struct AtenTranslation {
  llvm::StringRef op;
  AtenTranslator translate;
};
llvm::ArrayRef<AtenTranslation> getAtenElementWise();
llvm::ArrayRef<AtenTranslation> getAtenMovement();
llvm::ArrayRef<AtenTranslation> getAtenShapes();
llvm::ArrayRef<AtenTranslation> getAtenReductions();
llvm::ArrayRef<AtenTranslation> getAtenIndexing();
llvm::ArrayRef<AtenTranslation> getAtenMatMuls();
llvm::ArrayRef<AtenTranslation> getAtenQuantization();
llvm::ArrayRef<AtenTranslation> getAtenImages();

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_FORMS_ATEN_ATENBUILDER_H
