//===- OperandGenerator.h - Operands and attributes to try ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_OPERANDGENERATOR_H
#define GLOWISH_TESTS_FUZZ_OPERANDGENERATOR_H

#include "GraphSpec.h"
#include "RefusalHint.h"
#include "glowish/Support/Random.h"

namespace glowish::fuzz {

/// An operand of a node that is not there yet: a value of the spec, new
/// storage, or nothing.
struct OperandDraft {
  ValueRef existing;
  std::optional<Type> storage;
};

/// A node that is being made up.
struct EntryDraft {
  const OpInfo *info;
  std::vector<OperandDraft> operands;
  std::vector<AttrValue> attrs;

  /// Null where operand \p index is absent.
  const Type *getType(const GraphSpec &spec, unsigned index) const;
};

/// Makes up operands and attributes from what a record says (kinds of
/// attributes, accepted strings, optional and variadic operands) and from the
/// rest of the draft: extents and ranks of operands, mostly. It knows no
/// operators.
class OperandGenerator {
public:
  OperandGenerator(const GraphSpec &spec, Random &random)
      : spec(spec), random(random) {}

  /// A draft of \p info, of operands and attributes that need not fit.
  EntryDraft start(const OpInfo &info);
  /// Makes up operand \p index anew.
  void changeOperand(EntryDraft &draft, unsigned index);
  /// Makes operand \p index what a refusal says it expects: a value that is
  /// there, or storage. False where that says nothing.
  bool changeToExpected(EntryDraft &draft, unsigned index,
                        const RefusalHint &hint);
  /// Makes up attribute \p index anew.
  void changeAttr(EntryDraft &draft, unsigned index);
  /// The same, with as many values as \p hint says.
  void changeAttr(EntryDraft &draft, unsigned index, const RefusalHint &hint);
  /// Another number of values of the variadic operand.
  void changeCount(EntryDraft &draft);

private:
  bool chance(unsigned percent) { return random.below(100) < percent; }
  template <typename T> const T &pick(llvm::ArrayRef<T> values) {
    return values[random.below(values.size())];
  }
  ElemKind pickKind();
  int64_t pickExtent(const EntryDraft &draft);
  Dims makeShape(const EntryDraft &draft);
  Dims deriveShape(const EntryDraft &draft, DimsRef other);
  Dims makeExpectedShape(const EntryDraft &draft, const Type *type,
                         const RefusalHint &hint);
  ValueRef findAccepted(const RefusalHint &hint);
  Type makeType(ElemKind kind, DimsRef shape);
  Type makeType(const EntryDraft &draft, unsigned index);
  Dims refactor(DimsRef shape);
  int64_t makeInt(const EntryDraft &draft);
  std::vector<int64_t> makeShapeAttr(const EntryDraft &draft, Dims shape);
  std::vector<int64_t> makeInts(const EntryDraft &draft);
  /// Pads of images, less than most kernels.
  std::vector<int64_t> makePads();
  double makeFloat(const EntryDraft &draft);
  std::vector<int64_t> makeTable(ElemKind kind, unsigned size);
  ScalarProgram makeProgram(const EntryDraft &draft);

  const GraphSpec &spec;
  Random &random;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_OPERANDGENERATOR_H
