//===- LinalgWriter.h - Write nodes in linalg on tensors --------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_LINALG_LINALGWRITER_H
#define GLOWISH_LIB_EXPORTER_MLIR_LINALG_LINALGWRITER_H

#include "MLIR/Writer.h"

namespace glowish {

/// Named operations of linalg where there are some, else linalg.generic; tensor
/// and scf for the rest.
class LinalgWriter final : public MlirWriter {
public:
  static constexpr MlirDialect formDialects[] = {MlirDialect::Linalg};

  using MlirWriter::MlirWriter;

  MlirDialect getDialect() const override { return MlirDialect::Linalg; }

  MlirValue mapElements(ElemKind kind, DimsRef shape,
                        llvm::ArrayRef<MlirValue> operands,
                        ScalarFunction function) override;
  MlirValue reduce(llvm::StringRef mode, const MlirValue &x, IntsRef axes,
                   bool keepDims) override;
  MlirValue reshape(const MlirValue &x, DimsRef shape) override;
  MlirValue transpose(const MlirValue &x, IntsRef permutation) override;
  MlirValue broadcast(const MlirValue &x, DimsRef shape) override;
  MlirValue slice(const MlirValue &x, IntsRef starts, IntsRef sizes,
                  IntsRef steps) override;
  MlirValue concat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                   const Type &type) override;
  MlirValue padWider(const MlirValue &x, IntsRef pads, double value) override;
  MlirValue splat(const Type &type, double value) override;
  MlirValue matMul(const MlirValue &lhs, const MlirValue &rhs,
                   const Type &type) override;
  MlirValue convolve(const MlirConvolution &convolution,
                     const Type &type) override;
  MlirValue pool(llvm::StringRef mode, const MlirValue &x,
                 const Windows &window, const Type &type) override;
  MlirValue gather(const MlirValue &x, const MlirValue &indices, int64_t axis,
                   const Type &type) override;
  MlirValue argMax(const MlirValue &x, int64_t axis, bool selectLast,
                   const Type &type) override;

  MlirScalar applyPrimitive(ScalarPrimitive primitive,
                            llvm::ArrayRef<MlirScalar> args) override;
  MlirScalar literal(const MlirScalar &like, ElemKind kind,
                     double value) override;
  MlirScalar castScalar(const MlirScalar &x, ElemKind kind) override;
  MlirScalar bitCastScalar(const MlirScalar &x, ElemKind kind) override;
  MlirScalar lookup(const MlirScalar &x, llvm::ArrayRef<double> table) override;

  //===- linalg.generic -----------------------------------------------------//

  /// An operand, and the index of each of its dimensions over the loops:
  /// "d0", "d1 * 2 + d3", "0".
  struct Access {
    MlirValue value;
    std::vector<std::string> indices;
  };
  /// The loops d0, d1, ..., of which some are reduced.
  struct Loops {
    unsigned count = 0;
    std::vector<unsigned> reduced = {};
  };
  using Body = llvm::function_ref<std::vector<MlirScalar>(
      llvm::ArrayRef<MlirScalar> ins, llvm::ArrayRef<MlirScalar> outs)>;
  using OneBody = llvm::function_ref<MlirScalar(
      llvm::ArrayRef<MlirScalar> ins, llvm::ArrayRef<MlirScalar> outs)>;
  /// \p body gets elements as they are stored, and returns those of \p outs.
  MlirValues generic(const Loops &loops, llvm::ArrayRef<Access> ins,
                     llvm::ArrayRef<Access> outs, Body body);
  /// Writes such an operation with one result.
  MlirValue genericOne(const Loops &loops, llvm::ArrayRef<Access> ins,
                       const Access &out, OneBody body);
  /// "d0", "d1", ... from \p first on.
  static std::vector<std::string> getLoopNames(unsigned count,
                                               unsigned first = 0);
  MlirValue empty(const Type &type);

  //===- Scalars and indices ------------------------------------------------//

  /// An index is a name of a value of type index.
  using Index = std::string;
  Index index(int64_t value);
  /// The loop variable \p loop of the innermost linalg.generic.
  Index loopIndex(unsigned loop);
  Index toIndex(const MlirScalar &x);
  MlirScalar fromIndex(const Index &index);
  MlirScalar scalar(ElemKind kind, double value);
  /// The element of \p x at \p indices; of a tensor of one element without any.
  MlirScalar extract(const MlirValue &x, llvm::ArrayRef<Index> indices = {});
  /// A tensor of rank 0.
  MlirValue fromScalar(const MlirScalar &x);
  /// An operation with one scalar as result.
  MlirScalar scalarOp(ElemKind kind, const llvm::Twine &content);
  /// \p update in place of a part of \p x; offsets are indices or numbers.
  MlirValue insertSlice(const MlirValue &update, const MlirValue &x,
                        llvm::ArrayRef<std::string> offsets, IntsRef sizes);

  /// scf.for from 0 to \p count, which carries \p values.
  MlirValues forLoop(
      const Index &count, llvm::ArrayRef<MlirValue> values,
      llvm::function_ref<MlirValues(const Index &i, const MlirValues &carried)>
          body);
  using Branch = llvm::function_ref<MlirValues()>;
  MlirValues ifElse(const MlirScalar &condition, llvm::ArrayRef<Type> types,
                    Branch thenBranch, Branch elseBranch);

private:
  MlirValue fill(const Type &type, double value);
  MlirValue matMulGeneric(const MlirValue &lhs, const MlirValue &rhs,
                          const Type &type);
  MlirValue convolveGroups(const MlirConvolution &convolution,
                           const MlirValue &input, const MlirValue &start);
  MlirValue startSums(const MlirValue &bias, const Type &type);
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_LINALG_LINALGWRITER_H
