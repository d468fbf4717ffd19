//===- TensorWriter.h - Dialects of whole tensors ---------------*- C++ -*-===//
//
// TOSA and StableHLO have operations on whole tensors alone. TensorWriter has
// what does not differ between them: what needs no operation, or none of the
// dialect, and how scalars of formulas are tensors.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_EXPORTER_MLIR_TENSORWRITER_H
#define GLOWISH_LIB_EXPORTER_MLIR_TENSORWRITER_H

#include "MLIR/Writer.h"

namespace glowish {

/// A scalar of a formula is a tensor here, which broadcasts to those that it
/// meets: all have one rank.
class TensorWriter : public MlirWriter {
public:
  static constexpr MlirDialect formDialects[] = {MlirDialect::Tosa,
                                                 MlirDialect::StableHlo};

  using MlirWriter::MlirWriter;

  MlirValue mapElements(ElemKind kind, DimsRef shape,
                        llvm::ArrayRef<MlirValue> operands,
                        ScalarFunction function) final;
  MlirValue reshape(const MlirValue &x, DimsRef shape) final;
  MlirValue transpose(const MlirValue &x, IntsRef permutation) final;
  MlirValue broadcast(const MlirValue &x, DimsRef shape) final;
  MlirValue slice(const MlirValue &x, IntsRef starts, IntsRef sizes,
                  IntsRef steps) final;
  MlirValue concat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                   const Type &type) final;
  MlirValue padWider(const MlirValue &x, IntsRef pads, double value) final;
  MlirValue splat(const Type &type, double value) final {
    return getConstants().getSplat(getStoredType(type), value);
  }

  /// Writes "OPERATION %a, %bATTRIBUTES : (TYPES) -> TYPE".
  MlirValue tensorOp(llvm::StringRef operation,
                     llvm::ArrayRef<MlirValue> operands, const Type &type,
                     const llvm::Twine &attributes = "");

protected:
  //===- Operations, whose result has elements ------------------------------//

  /// To another shape.
  virtual MlirValue writeReshape(const MlirValue &x, const Type &type) = 0;
  virtual MlirValue writeTranspose(const MlirValue &x, IntsRef permutation,
                                   const Type &type) = 0;
  /// Of \p x with the rank of \p type and some extents of 1.
  virtual MlirValue writeBroadcast(const MlirValue &x, const Type &type) = 0;
  virtual MlirValue writeReverse(const MlirValue &x, int64_t axis) = 0;
  /// With steps that are positive.
  virtual MlirValue writeSlice(const MlirValue &x, IntsRef starts,
                               IntsRef steps, const Type &type) = 0;
  /// Of more than one tensor, which have elements.
  virtual MlirValue writeConcat(llvm::ArrayRef<MlirValue> xs, int64_t axis,
                                const Type &type) = 0;
  virtual MlirValue writePad(const MlirValue &x, IntsRef pads, double value,
                             const Type &type) = 0;

  //===- Scalars ------------------------------------------------------------//

  static MlirValue getTensor(const MlirScalar &x) {
    return {x.name, Type(x.kind, x.shape)};
  }
  MlirScalar getScalar(const MlirValue &x) {
    return {this, x.name, x.getKind(), Dims(x.getShape())};
  }
  /// The extents that \p args broadcast to.
  static Dims getCommonShape(llvm::ArrayRef<MlirScalar> args);
  /// Records that the dialect has nothing for \p what.
  MlirScalar refuseScalar(const llvm::Twine &what, const MlirScalar &like,
                          ElemKind kind);
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_MLIR_TENSORWRITER_H
