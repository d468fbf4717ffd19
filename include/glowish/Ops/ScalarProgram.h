//===- ScalarProgram.h - Programs of scalar steps ---------------*- C++ -*-===//
//
// A short straight-line program over scalars. It is the body of an
// ElementWiseLoop and the epilogue of an anchor (a convolution, a
// matmul): values 0 ... numInputs-1 are its inputs, each step adds one value,
// and the last value is the result.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_SCALARPROGRAM_H
#define GLOWISH_OPS_SCALARPROGRAM_H

#include "glowish/Base/ElemKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace llvm {
class raw_ostream;
}

namespace glowish {

/// The element-wise operators, from their records.
enum class ScalarOp : uint16_t {
#define SCALAR_OP(NAME) NAME,
#define GET_SCALAR_OP_LIST
#include "glowish/Ops/ScalarOps.inc"
};

/// The part of a record that is specific to element-wise operators.
struct ScalarOpInfo {
  enum class Kinds : uint8_t {
    Float,
    Number,
    Signed,
    Integer,
    Int32,
    UInt64,
    Bool,
    Any,
    Byte,
    Stored
  };
  enum class Result : uint8_t { Same, Bool, To };

  llvm::StringRef name;
  unsigned numArgs;
  /// Names of the Float attributes, in the order of ScalarStep::params.
  llvm::ArrayRef<llvm::StringRef> params;
  /// The numbers of the attribute `table`; 0 without one.
  unsigned tableSize;
  Kinds kinds;
  Result result;
  bool firstIsBool;
  bool isCommutative;
  /// The traits FewInstructions and HasPole.
  bool hasFewInstructions;
  bool hasPole;
  /// The interval on which the operator is defined.
  double domainLow, domainHigh;

  /// Whether the operator takes arguments of \p kind (the first argument of a
  /// firstIsBool operator aside).
  bool accepts(ElemKind kind) const;
  /// What accepts takes, for messages: "a float or integer kind".
  llvm::StringRef describeKinds() const;
  /// Checks the numbers of a table for elements of \p kind.
  llvm::Error checkTable(llvm::ArrayRef<double> table, ElemKind kind) const;
};

const ScalarOpInfo &getScalarOpInfo(ScalarOp op);
/// The operator whose record is called \p name.
std::optional<ScalarOp> findScalarOp(llvm::StringRef name);
llvm::ArrayRef<ScalarOpInfo> getScalarOpTable();

struct ScalarStep {
  ScalarOp op;
  /// Earlier values: inputs first, then steps.
  llvm::SmallVector<unsigned, 3> args;
  /// The Float attributes of the operator's record, then the numbers of its
  /// table.
  llvm::SmallVector<double, 2> params;
  /// The kind of the value that the step makes.
  ElemKind kind = ElemKind::Float;

  /// Parameters compare by their bits: 0.0 is not -0.0, a NaN is itself.
  bool operator==(const ScalarStep &other) const;
};

struct ScalarProgram {
  /// An empty program is the identity of its input 0.
  std::vector<ScalarStep> steps;

  bool empty() const { return steps.empty(); }
  bool operator==(const ScalarProgram &other) const = default;

  /// `{v2:float = Add(v0, v1); v3:float = Clip(v2) <0.0, 6.0>}` for a program
  /// of two inputs; `{}` when empty.
  void print(llvm::raw_ostream &os, unsigned numInputs) const;

  /// The kind of the result for inputs of \p inputKinds; an error when a step
  /// refers to a later value, or has the wrong number or kinds of arguments.
  llvm::Expected<ElemKind> check(llvm::ArrayRef<ElemKind> inputKinds) const;

  /// Appends \p next, whose input 0 is this program's result and whose other
  /// inputs become inputs numInputs ... of the joined program.
  /// \p numInputs and \p nextInputs count the inputs of each.
  void append(const ScalarProgram &next, unsigned numInputs,
              unsigned nextInputs);
};

llvm::hash_code hash_value(const ScalarProgram &program);

} // namespace glowish

#endif // GLOWISH_OPS_SCALARPROGRAM_H
