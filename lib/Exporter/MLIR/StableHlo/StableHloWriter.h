//===- StableHloWriter.h - Write nodes in StableHLO -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_STABLEHLO_STABLEHLOWRITER_H
#define GLOWISH_LIB_EXPORTER_MLIR_STABLEHLO_STABLEHLOWRITER_H

#include "MLIR/TensorWriter.h"

namespace glowish {

/// Operations of StableHLO, in the forms that its tools from July 2024 on read.
class StableHloWriter final : public TensorWriter {
public:
  static constexpr MlirDialect formDialects[] = {MlirDialect::StableHlo};

  using TensorWriter::TensorWriter;

  MlirDialect getDialect() const override { return MlirDialect::StableHlo; }

  MlirValue reduce(llvm::StringRef mode, const MlirValue &x, IntsRef axes,
                   bool keepDims) override;
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

  //===- Operations ---------------------------------------------------------//

  /// 0, 1, ... along dimension \p axis.
  MlirValue iota(const Type &type, int64_t axis);
  /// Pads of either sign, and as many elements between neighbours.
  MlirValue padInside(const MlirValue &x, IntsRef pads, IntsRef between,
                      const Type &type);
  /// A convolution of floats with \p dimensions, "[...]x[...]->[...]".
  MlirValue convolution(const MlirValue &lhs, const MlirValue &rhs,
                        llvm::StringRef dimensions,
                        const MlirConvolution &attributes, int64_t batchGroups,
                        const Type &type);
  /// The slice of \p x at \p starts, which are scalars of one integer kind.
  MlirValue dynamicSlice(const MlirValue &x, llvm::ArrayRef<MlirValue> starts,
                         DimsRef sizes);
  MlirValue dynamicUpdateSlice(const MlirValue &x, const MlirValue &update,
                               llvm::ArrayRef<MlirValue> starts);

  //===- Regions ------------------------------------------------------------//

  using Computation = llvm::function_ref<std::vector<MlirScalar>(
      llvm::ArrayRef<MlirScalar> parameters)>;
  /// Writes `"OPERATION"(operands) <{attributes}> ({...})`, where
  /// \p computation is of scalars: \p parameters are their kinds. It sees
  /// nothing from outside.
  MlirValues computeOp(llvm::StringRef operation,
                       llvm::ArrayRef<MlirValue> operands,
                       const llvm::Twine &attributes,
                       llvm::ArrayRef<ElemKind> parameters,
                       Computation computation, llvm::ArrayRef<Type> types);
  MlirValues ifElse(const MlirValue &condition, llvm::ArrayRef<Type> types,
                    llvm::function_ref<MlirValues()> thenBranch,
                    llvm::function_ref<MlirValues()> elseBranch);
  /// Carries \p values while \p condition, a scalar, holds of them.
  MlirValues
  whileLoop(llvm::ArrayRef<MlirValue> values,
            llvm::function_ref<MlirValue(const MlirValues &carried)> condition,
            llvm::function_ref<MlirValues(const MlirValues &carried)> body);

private:
  MlirValue writeReshape(const MlirValue &x, const Type &type) override;
  MlirValue writeTranspose(const MlirValue &x, IntsRef permutation,
                           const Type &type) override;
  MlirValue writeBroadcast(const MlirValue &x, const Type &type) override;
  MlirValue writeReverse(const MlirValue &x, int64_t axis) override;
  MlirValue writeSlice(const MlirValue &x, IntsRef starts, IntsRef steps,
                       const Type &type) override;
  MlirValue writeConcat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                        const Type &type) override;
  MlirValue writePad(const MlirValue &x, IntsRef pads, double value,
                     const Type &type) override;

  /// An operation on operands of one type, which the result has too; or a
  /// selection.
  MlirScalar elementOp(llvm::StringRef operation,
                       llvm::ArrayRef<MlirScalar> args);
  MlirScalar compare(llvm::StringRef direction, const MlirScalar &x,
                     const MlirScalar &y);
  /// \p args, which broadcast, with the same extents.
  MlirValues expand(llvm::ArrayRef<MlirScalar> args);
  /// Elements along \p axis at indices from 0, which are clamped.
  MlirValue gatherInside(const MlirValue &x, const MlirValue &indices,
                         int64_t axis, const Type &type);

  /// Whether a computation of scalars is written, which may not use constants
  /// from outside.
  bool isInComputation = false;
};

/// "tensor<2xui8>".
std::string getHloType(const Type &type);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_STABLEHLO_STABLEHLOWRITER_H
