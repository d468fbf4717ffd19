//===- TosaWriter.h - Write nodes in TOSA -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_TOSA_TOSAWRITER_H
#define GLOWISH_LIB_EXPORTER_MLIR_TOSA_TOSAWRITER_H

#include "MLIR/TensorWriter.h"

namespace glowish {

/// Operations of TOSA as LLVM 19 has it.
class TosaWriter final : public TensorWriter {
public:
  static constexpr MlirDialect formDialects[] = {MlirDialect::Tosa};

  using TensorWriter::TensorWriter;

  MlirDialect getDialect() const override { return MlirDialect::Tosa; }

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

  /// The integers \p x of either sign with the highest bit flipped: those of
  /// the other sign and the same order, all of them moved by as much.
  MlirValue flipSign(const MlirValue &x);
  /// The matmul of int8 less their zero points, in int32.
  MlirValue matMulBytes(const MlirValue &lhs, const MlirValue &rhs,
                        int64_t lhsZero, int64_t rhsZero, const Type &type);
  /// Writes a cond_if; inside of another one, both branches and a selection.
  MlirValues writeIf(const IfNode &node);

private:
  MlirValue argMaxOfFloats(const MlirValue &x, int64_t axis, bool selectLast,
                           const Type &type);
  /// argMax of what has no NaN.
  MlirValue findLargest(const MlirValue &x, int64_t axis, bool selectLast,
                        const Type &type);
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

  MlirScalar elementOp(llvm::StringRef operation,
                       llvm::ArrayRef<MlirScalar> args, ElemKind kind,
                       const llvm::Twine &attributes = "");
  MlirScalar castToInt64(const MlirScalar &whole);
  MlirScalar roundToEven(const MlirScalar &x);
  MlirValue takeEach(const MlirValue &x, int64_t axis, int64_t size,
                     int64_t step);
  MlirValue multiplyMatrices(const MlirValue &lhs, const MlirValue &rhs,
                             const Type &type, const llvm::Twine &attributes);
  MlirValue convolveGroups(const MlirConvolution &convolution,
                           const Type &type);
  MlirValues writeBranches(const IfNode &node, const MlirValue &condition);
  MlirValues selectBranch(const IfNode &node, const MlirValue &condition);

  /// Whether nodes are written into a region of a cond_if.
  bool isInBranch = false;
};

/// " {axis = 1 : i32}".
std::string formatTosaAxis(int64_t axis);

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_TOSA_TOSAWRITER_H
