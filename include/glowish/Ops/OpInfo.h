//===- OpInfo.h - Operator records at run time ------------------*- C++ -*-===//
//
// The tables that glowish-tblgen makes from Nodes.td and Instrs.td. Printing,
// parsing, comparing, hashing, cloning and structural verification are written
// once, over these tables.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_OPINFO_H
#define GLOWISH_OPS_OPINFO_H

#include "glowish/Base/Type.h"
#include "glowish/Ops/AxisMap.h"
#include "glowish/Ops/Body.h"
#include "glowish/Ops/CustomAttr.h"
#include "glowish/Ops/NamedValues.h"
#include "glowish/Ops/ScalarProgram.h"
#include <string>
#include <variant>
#include <vector>

namespace glowish {

/// The order is that of the alternatives of AttrValue.
enum class AttrKind : uint8_t {
  Int,
  Ints,
  Float,
  Bool,
  String,
  Kind,
  Program,
  Body,
  Types,
  Values,
  Custom
};

using AttrVariant =
    std::variant<int64_t, std::vector<int64_t>, double, bool, std::string,
                 ElemKind, ScalarProgram, std::shared_ptr<Body>,
                 std::vector<Type>, NamedValues, CustomAttr>;

/// The value of an attribute: a variant whose copies, moves and destruction
/// are compiled once. Inline they are the largest part of what most files that
/// handle nodes or instructions have compiled.
struct AttrValue : AttrVariant {
  /// The Int 0.
  AttrValue();
  AttrValue(int value);
  AttrValue(int64_t value);
  AttrValue(std::vector<int64_t> value);
  AttrValue(double value);
  AttrValue(bool value);
  AttrValue(std::string value);
  AttrValue(ElemKind value);
  AttrValue(ScalarProgram value);
  AttrValue(std::shared_ptr<Body> value);
  AttrValue(std::vector<Type> value);
  AttrValue(NamedValues value);
  AttrValue(CustomAttr value);
  /// A text is given as a std::string: a pointer would become a Bool.
  AttrValue(const void *) = delete;
  AttrValue(const AttrValue &other);
  AttrValue(AttrValue &&other) noexcept;
  AttrValue &operator=(const AttrValue &other);
  AttrValue &operator=(AttrValue &&other) noexcept;
  ~AttrValue();
};

/// Appends \p value to \p attrs; not inline for the same reason.
void appendAttr(std::vector<AttrValue> &attrs, AttrValue value);

/// Agrees with isIdentical.
llvm::hash_code hash_value(const AttrValue &value);

/// Whether \p a can stand for \p b: floats compare by their bits, so that 0.0
/// is not -0.0 and a NaN is itself. A body is identical to itself alone.
bool isIdentical(const AttrValue &a, const AttrValue &b);
bool areIdentical(llvm::ArrayRef<AttrValue> a, llvm::ArrayRef<AttrValue> b);

/// The relation of an attribute to the dimensions of the operands with
/// hasAxes.
enum class AxisRole : uint8_t {
  None,
  Axis,          // a dimension
  AxisList,      // dimensions in ascending order
  PerAxis,       // a value per dimension
  ResultExtents, // the same: the extents of the result
  PerAxisPads,   // a value per dimension for its start, then for its end
  ImagePads      // [top, left, bottom, right] of dimensions 1 and 2
};

struct AttrInfo {
  llvm::StringRef name;
  AttrKind kind;
  /// Null if the attribute must be given.
  AttrValue (*getDefault)() = nullptr;
  /// Accepted values of a String; empty for any.
  llvm::ArrayRef<llvm::StringRef> allowed = {};
  AxisRole axes = AxisRole::None;
  /// The type of a Custom.
  const CustomAttrType *customType = nullptr;
  llvm::StringRef doc = {};
};

enum class OperandRole : uint8_t { In, Out, InOut, Scratch };

/// "in", "out", "inout", "scratch".
llvm::StringRef getRoleName(OperandRole role);

struct OperandInfo {
  llvm::StringRef name;
  OperandRole role = OperandRole::In;
  bool isOptional = false;
  bool isVariadic = false;
  /// An input of the epilogue (instructions).
  bool isFused = false;
  /// Attributes with an AxisRole count the dimensions of this operand.
  bool hasAxes = false;
  /// May be a view with any strides (instructions).
  bool isStrided = false;
  /// May share its buffer with the @out operand (instructions).
  bool isInPlace = false;
  /// Is packed before it is computed with (instructions).
  bool isPacked = false;
  llvm::StringRef doc = {};
};

/// The properties of OpBase.td.
enum class OpTrait : uint8_t {
#include "glowish/Ops/OpTraits.inc"
};

class OpTraits {
public:
  constexpr OpTraits() = default;
  constexpr OpTraits(std::initializer_list<OpTrait> traits) {
    for (OpTrait trait : traits)
      bits |= getBit(trait);
  }
  constexpr bool has(OpTrait trait) const { return bits & getBit(trait); }

private:
  static constexpr uint32_t getBit(OpTrait trait) {
    return uint32_t(1) << unsigned(trait);
  }
  uint32_t bits = 0;
};

class ExtentInference;
class OpView;

/// The elements beyond an extent of an operand that change no result.
struct Filler {
  /// An infinity stands for the least or largest number of the operand's kind.
  double value;
  /// Whether the instruction can take a bound for the dimension instead
  /// (LoopBound), and reads nothing beyond it.
  bool isBounded = false;
};

/// The part of an operator's record that exists at run time.
struct OpInfo {
  llvm::StringRef name;
  llvm::StringRef summary;
  llvm::ArrayRef<OperandInfo> operands = {};
  llvm::ArrayRef<llvm::StringRef> results = {}; // nodes
  llvm::ArrayRef<AttrInfo> attrs = {};
  /// Infers the types of the results (nodes) or @out operands (instructions)
  /// from operands and attributes, or returns an error that describes the
  /// fault.
  llvm::Expected<TypeList> (*inferTypes)(const OpView &op) = nullptr;
  /// The element-wise operator that a node is.
  std::optional<ScalarOp> scalarOp = {};
  /// Multiply-adds for one element of the first result; null where none are
  /// counted.
  int64_t (*countMultiplyAdds)(const OpView &op) = nullptr;
  OpTraits traits = {};

  /// \name Nodes
  /// Null where the record has no such expression or function.
  /// @{
  /// Whether the results have no roundings of their own.
  bool (*isExact)(const OpView &op) = nullptr;
  /// Whether IRGen has a function for the node as it is.
  bool (*isIRGenerated)(const OpView &op) = nullptr;
  /// Whether there is an instruction that computes the node as it is.
  bool (*isInstrFor)(const OpView &op) = nullptr;
  /// How the operands follow dimension \p dim of \p result; null if parts of
  /// the result along it cannot be computed from parts of the operands.
  std::optional<OperandAxes> (*followAxis)(const OpView &op, const Type &result,
                                           unsigned dim) = nullptr;
  /// Tells the extents of the results where a run decides some of the operands'
  /// (ExtentRules.h); null if the operands must have none.
  llvm::Error (*inferExtents)(ExtentInference &inference) = nullptr;
  /// Returns what the elements of operand \p operand beyond the extent of
  /// dimension \p dim must be so that they change no result; none where it does
  /// not matter. Null if elements cannot be made so.
  std::optional<Filler> (*findFiller)(const OpView &op, unsigned operand,
                                      unsigned dim) = nullptr;
  /// Dimensions that permutations must leave in place.
  llvm::ArrayRef<int64_t> fixedDims = {};
  /// The node's instruction has an epilogue.
  bool takesEpilogue = false;
  /// @}

  /// The Ints attribute of an instruction with several variadic operands that
  /// has the number of values of each operand of the record; -1 for the others.
  int segmentsAttr = -1;
  /// Of an instruction with an epilogue: its program, and the first of the
  /// program's further inputs; -1 for others.
  int epilogueAttr = -1;
  int fusedOperand = -1;

  bool has(OpTrait trait) const { return traits.has(trait); }
  bool hasEpilogue() const { return epilogueAttr >= 0; }
  bool isVariadic() const {
    return !operands.empty() && operands.back().isVariadic;
  }
  bool hasSegments() const { return segmentsAttr >= 0; }
  /// Inputs of the Program attribute of an instruction with \p numOperands:
  /// those of the last operand, and the element itself if the program is an
  /// epilogue.
  unsigned countProgramInputs(size_t numOperands) const {
    if (!isVariadic() || hasSegments() || numOperands + 1 < operands.size())
      return 0;
    return numOperands + 1 - operands.size() + (hasEpilogue() ? 1 : 0);
  }
  /// Whether an attribute is a body.
  bool hasBodies() const;
  /// The record of operand \p index of an operator without segments.
  const OperandInfo &getOperandInfo(unsigned index) const {
    assert(!hasSegments() && "the attributes tell");
    return operands[std::min<size_t>(index, operands.size() - 1)];
  }
  /// The same of any operator with the attributes \p attrs.
  const OperandInfo &getOperandInfo(unsigned index,
                                    llvm::ArrayRef<AttrValue> attrs) const {
    return hasSegments() ? findSegment(index, attrs) : getOperandInfo(index);
  }
  /// Position of attribute \p name; the number of attributes if there is none.
  unsigned findAttr(llvm::StringRef name) const;

private:
  const OperandInfo &findSegment(unsigned index,
                                 llvm::ArrayRef<AttrValue> attrs) const;
};

/// The view of an operator for its type rule: types of operands and attributes,
/// for nodes and instructions alike. Indices count @in operands in both.
/// glowish-tblgen derives a view with named accessors for each record.
class OpView {
public:
  /// \p inputs: one a @in operand, null for an absent optional one.
  /// \p outputs: the @out operands' types of an instruction, empty for a node.
  OpView(const OpInfo &info, llvm::ArrayRef<const Type *> inputs,
         llvm::ArrayRef<const Type *> outputs, llvm::ArrayRef<AttrValue> attrs)
      : info(info), inputs(inputs), outputs(outputs), attrs(attrs) {}

  const OpInfo &getInfo() const { return info; }
  unsigned getNumInputs() const { return inputs.size(); }
  bool hasInput(unsigned index) const {
    return index < inputs.size() && inputs[index];
  }
  const Type &getInput(unsigned index) const { return *inputs[index]; }
  llvm::ArrayRef<const Type *> getInputs() const { return inputs; }
  unsigned getNumOutputs() const { return outputs.size(); }
  const Type &getOutput(unsigned index) const { return *outputs[index]; }

  llvm::ArrayRef<AttrValue> getAttrs() const { return attrs; }
  template <typename T> const T &getAttr(unsigned index) const {
    return std::get<T>(attrs[index]);
  }

  /// An error about operand \p index: "operand 'filter' (float<...>): WHAT";
  /// a value of a variadic operand is called 'inputs[2]'.
  llvm::Error operandError(unsigned index, const llvm::Twine &what) const;
  /// An error about attribute \p name: "attribute 'strides': WHAT".
  llvm::Error attrError(llvm::StringRef name, const llvm::Twine &what) const;

private:
  const OpInfo &info;
  llvm::ArrayRef<const Type *> inputs;
  llvm::ArrayRef<const Type *> outputs;
  llvm::ArrayRef<AttrValue> attrs;
};

/// Number, kinds and allowed values of attributes, number and presence of
/// operands: what a record alone decides. \p present: one an operand.
llvm::Error checkStructure(const OpInfo &info, llvm::ArrayRef<bool> present,
                           llvm::ArrayRef<AttrValue> attrs);

/// The attributes of \p info that have defaults, at their defaults; the others
/// value-initialised.
std::vector<AttrValue> getDefaultAttrs(const OpInfo &info);

/// The shape to which all of \p shapes broadcast as numpy's do; an error that
/// names the two that don't fit.
llvm::Expected<Dims> broadcastShapes(llvm::ArrayRef<DimsRef> shapes);

} // namespace glowish

#endif // GLOWISH_OPS_OPINFO_H
