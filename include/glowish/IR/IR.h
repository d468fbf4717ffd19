//===- IR.h - Buffers and instructions --------------------------*- C++ -*-===//

#ifndef GLOWISH_IR_IR_H
#define GLOWISH_IR_IR_H

#include "glowish/Base/Extent.h"
#include "glowish/Base/InputExtents.h"
#include "glowish/Base/Tensor.h"
#include "glowish/Ops/OpInfo.h"
#include "glowish/Ops/Predicate.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/ilist.h"
#include "llvm/ADT/ilist_node.h"
#include "llvm/Support/Casting.h"
#include <list>
#include <memory>

namespace glowish {

class IRFunction;
class Instruction;

/// The instructions of Instrs.td, common to all back ends. Those of one back
/// end have further values (InstrDialect).
enum class InstrKind : uint16_t {
#define INSTR(NAME) NAME,
#define GET_INSTR_LIST
#include "glowish/IR/InstrKinds.inc"
};

const OpInfo &getInstrInfo(InstrKind kind);
std::optional<InstrKind> findInstrKind(llvm::StringRef name);

struct InstrDraft;

/// The instructions of one back end.
class InstrDialect {
public:
  using Maker = Instruction *(*)(InstrDraft draft, llvm::StringRef name);

  /// Registers the records \p table and the factories of their instructions,
  /// for the rest of the process.
  InstrDialect(llvm::ArrayRef<OpInfo> table, llvm::ArrayRef<Maker> makers);

  /// The kind of record \p index.
  InstrKind getKind(unsigned index) const {
    return InstrKind(unsigned(first) + index);
  }
  /// Whether \p kind is one of the dialect's.
  bool has(InstrKind kind) const {
    return unsigned(kind) - unsigned(first) < size;
  }

private:
  InstrKind first;
  unsigned size;
};
/// Whether \p kind is of Instrs.td.
bool isCommonInstr(InstrKind kind);

/// Memory that instructions read and write: a constant, a placeholder's
/// storage, an activation, or a view of one of these.
class Buffer {
public:
  enum class Kind : uint8_t { Constant, Mutable, Activation, View };

  Kind getKind() const { return kind; }
  llvm::StringRef getName() const { return name; }
  const Type &getType() const { return type; }
  DimsRef getShape() const { return type.getShape(); }

  bool isView() const { return kind == Kind::View; }
  /// Constants and mutable weights: they live as long as the program.
  bool isWeight() const {
    return kind == Kind::Constant || kind == Kind::Mutable;
  }

  /// Constants: the bytes.
  const Tensor &getTensor() const { return *payload; }
  std::shared_ptr<const Tensor> getPayload() const { return payload; }
  /// Mutable: the name in the model, and the direction.
  llvm::StringRef getModelName() const { return modelName; }
  bool isInput() const { return input; }
  bool isOutput() const { return output; }
  /// Mutable: the buffer with the actual extents of an output whose type
  /// states only the largest (Placeholder::getExtents); else null.
  Buffer *getExtents() const { return extents; }
  void setExtents(Buffer *buffer) { extents = buffer; }
  /// Mutable: Placeholder::getInputExtents.
  const InputExtents &getInputExtents() const { return inputExtents; }
  void setInputExtents(InputExtents own) { inputExtents = std::move(own); }
  /// Mutable: Placeholder::getClassNames.
  llvm::ArrayRef<std::string> getClassNames() const { return classNames; }
  void setClassNames(llvm::ArrayRef<std::string> names) {
    classNames = names.vec();
  }

  /// Views: the buffer that they show, never a view itself.
  Buffer *getBase() const { return base; }
  /// The base of a view, else the buffer itself.
  Buffer *getRoot() { return base ? base : this; }
  const Buffer *getRoot() const { return base ? base : this; }
  /// Where element 0 is, in elements of the root.
  int64_t getOffset() const { return offset; }
  /// Elements of the root between neighbours of each dimension; 0 repeats. Of a
  /// buffer that is no view they are dense.
  DimsRef getStrides() const { return strides; }
  /// The stride of the last dimension; 1 for a scalar.
  int64_t getInnerStride() const {
    return strides.empty() ? 1 : strides.back();
  }
  /// Row-major without gaps. Dimensions of extent 1 don't matter.
  bool isDense() const;

  /// The operands that name this buffer; views of it are found from theirs.
  llvm::ArrayRef<Instruction *> getUsers() const { return users; }
  /// The views of this buffer.
  llvm::ArrayRef<Buffer *> getViews() const { return views; }

private:
  friend class IRFunction;
  friend class Instruction;
  Kind kind;
  std::string name;
  Type type;
  std::shared_ptr<const Tensor> payload;
  std::string modelName;
  bool input = false;
  bool output = false;
  Buffer *extents = nullptr;
  InputExtents inputExtents;
  std::vector<std::string> classNames;
  Buffer *base = nullptr;
  int64_t offset = 0;
  Dims strides;
  std::vector<Instruction *> users; // one entry an operand
  std::vector<Buffer *> views;
  std::list<std::unique_ptr<Buffer>>::iterator position;

public:
  /// Use IRFunction::create... instead.
  Buffer() = default;
};

/// How much of a dimension of an operand a run needs: elements with an index of
/// `extent` or more need not be written, or do not matter where they are read.
/// A back end may ignore bounds, but not those of what is summed, which are the
/// keys of an attention, the rows of a Softmax's input and the depth of a
/// MatMul's left side: what lies beyond may be NaN, and no mask excludes it.
/// One that leaves elements unwritten must not let those that do not matter
/// change a result.
struct LoopBound {
  unsigned operand = 0, dim = 0;
  /// Of symbols of the function's inputs; at most the extent of the dimension.
  Extent extent = {};
  bool operator==(const LoopBound &) const = default;
};

/// The kind, operands and attributes of an instruction to be created.
struct InstrDraft {
  InstrKind kind;
  /// In the order of the record; null for an absent optional one.
  llvm::SmallVector<Buffer *, 4> operands;
  std::vector<AttrValue> attrs;
  std::vector<LoopBound> bounds = {};
  /// The bools that state which rows of the results are needed
  /// (Ops/Predicate.h); null where all are.
  Buffer *predicate = nullptr;
};

/// An instruction: a kind, buffers as operands with the roles of the record,
/// attributes. Generated subclasses (ConvolutionInstr...) add named accessors
/// and no data.
class Instruction : public llvm::ilist_node<Instruction> {
public:
  Instruction(const Instruction &) = delete;
  virtual ~Instruction();

  InstrKind getKind() const { return kind; }
  const OpInfo &getInfo() const { return getInstrInfo(kind); }
  llvm::StringRef getKindName() const { return getInfo().name; }
  /// Whether it is an Alloc or a Dealloc, which cost nothing at run time.
  bool isLifetimeMarker() const {
    return getInfo().has(OpTrait::LifetimeMarker);
  }
  /// The node that the instruction was made for; may be empty, need not be
  /// unique. For messages and profiles.
  llvm::StringRef getName() const { return name; }
  IRFunction *getParent() const { return parent; }

  /// Counts the operands of the record and, where there is one, the predicate,
  /// which is the last operand: it is read like another.
  unsigned getNumOperands() const { return operands.size(); }
  unsigned getNumRecordOperands() const { return operands.size() - predicated; }
  /// Null for an absent optional operand.
  Buffer *getOperand(unsigned index) const { return operands[index]; }
  void setOperand(unsigned index, Buffer *buffer);
  llvm::ArrayRef<Buffer *> getOperands() const { return operands; }
  llvm::ArrayRef<Buffer *> getRecordOperands() const {
    return getOperands().drop_back(predicated);
  }
  const OperandInfo &getOperandInfo(unsigned index) const {
    return index == getNumRecordOperands()
               ? getPredicateInfo()
               : getInfo().getOperandInfo(index, attrs);
  }
  /// Returns the predicate; null where all rows of the results are needed.
  Buffer *getPredicate() const {
    return predicated ? operands.back() : nullptr;
  }
  /// Sets or, with null, drops the predicate. checkPredicate() must hold.
  void setPredicate(Buffer *predicate);
  bool reads(unsigned index) const {
    OperandRole role = getOperandInfo(index).role;
    return role == OperandRole::In || role == OperandRole::InOut;
  }
  bool writes(unsigned index) const {
    return getOperandInfo(index).role != OperandRole::In;
  }

  llvm::ArrayRef<AttrValue> getAttrs() const { return attrs; }
  template <typename T> const T &getAttr(unsigned index) const {
    return std::get<T>(attrs[index]);
  }
  void setAttr(unsigned index, AttrValue value) {
    attrs[index] = std::move(value);
  }
  /// The epilogue of an instruction that has one.
  const ScalarProgram &getEpilogueProgram() const {
    return getAttr<ScalarProgram>(getInfo().epilogueAttr);
  }
  /// Inputs of the Program attribute: the element itself and the fused operands
  /// of an instruction with an epilogue, all inputs of an ElementWiseLoop.
  unsigned getNumProgramInputs() const;

  /// Ascending by operand and dimension.
  llvm::ArrayRef<LoopBound> getLoopBounds() const { return bounds; }
  void setLoopBounds(std::vector<LoopBound> own) { bounds = std::move(own); }

  InstrDraft getDraft() const;

protected:
  Instruction(InstrDraft draft, llvm::StringRef name);

  /// The values of operand \p number of a record with segments.
  llvm::ArrayRef<Buffer *> getSegment(unsigned number) const;

private:
  friend class IRFunction;
  const InstrKind kind;
  std::string name;
  IRFunction *parent = nullptr;
  llvm::SmallVector<Buffer *, 4> operands;
  /// Whether the last operand is the predicate.
  bool predicated = false;
  std::vector<AttrValue> attrs;
  std::vector<LoopBound> bounds;
};

/// The program of one function: its buffers and a list of instructions. In the
/// body of an instruction the mutable buffers are its parameters (inputs) and
/// results (outputs): where they are is known when it runs.
class IRFunction {
public:
  explicit IRFunction(llvm::StringRef name);
  IRFunction(const IRFunction &) = delete;
  ~IRFunction();

  llvm::StringRef getName() const { return name; }

  Buffer *createConstant(llvm::StringRef name,
                         std::shared_ptr<const Tensor> payload);
  Buffer *createMutable(llvm::StringRef name, const Type &type,
                        llvm::StringRef modelName, bool input, bool output);
  Buffer *createActivation(llvm::StringRef name, const Type &type);
  /// A view of \p base (of its base, when that is a view: offset and strides
  /// are in elements of the root). \p type has the root's element kind.
  Buffer *createView(llvm::StringRef name, Buffer *base, const Type &type,
                     int64_t offset, DimsRef strides);
  /// Deletes \p buffer, which has neither users nor views.
  void eraseBuffer(Buffer *buffer);

  /// In order of creation.
  const std::list<std::unique_ptr<Buffer>> &getBuffers() const {
    return buffers;
  }
  Buffer *findBuffer(llvm::StringRef name) const;
  /// The mutable buffers that are inputs, and those that are outputs, in order
  /// of creation.
  llvm::SmallVector<Buffer *, 4> getInputs() const;
  llvm::SmallVector<Buffer *, 4> getOutputs() const;

  using InstrList = llvm::ilist<Instruction>;
  InstrList &getInstrs() { return instrs; }
  const InstrList &getInstrs() const { return instrs; }

  /// Makes an instruction before \p before (null: at the end).
  Instruction *create(llvm::StringRef name, InstrDraft draft,
                      Instruction *before = nullptr);
  template <typename T, typename... Args>
  T *create(llvm::StringRef name, Args &&...args) {
    return llvm::cast<T>(create(name, T::draft(std::forward<Args>(args)...)));
  }
  /// Puts an instruction of \p draft in the place of \p old, whose result,
  /// operand 0, it computes, perhaps under another shape. It has the name, the
  /// bounds of the result and the predicate of \p old, which is deleted and
  /// has no bounds of inputs; those of the draft are not looked at.
  Instruction *replace(Instruction *old, InstrDraft draft);
  /// Deletes \p instr.
  void erase(Instruction *instr);
  void moveBefore(Instruction *instr, Instruction *before);

private:
  Buffer *addBuffer(llvm::StringRef name, Buffer::Kind kind, const Type &type);
  std::string name;
  std::list<std::unique_ptr<Buffer>> buffers;
  llvm::StringMap<Buffer *> byName;
  llvm::StringMap<unsigned> nextSuffix;
  InstrList instrs;
};

/// The body of an instruction.
class IRBody final : public Body {
public:
  explicit IRBody(std::unique_ptr<IRFunction> function)
      : function(std::move(function)) {}
  IRFunction &getFunction() { return *function; }
  const IRFunction &getFunction() const { return *function; }
  TypeList getParameterTypes() const override;
  TypeList getResultTypes() const override;

private:
  std::unique_ptr<IRFunction> function;
};

/// The function of a body of an instruction.
inline IRFunction &getIRFunction(const std::shared_ptr<Body> &body) {
  return static_cast<IRBody &>(*body).getFunction();
}
/// The bodies of \p instr, in the order of its attributes.
llvm::SmallVector<IRFunction *, 2> getBodies(const Instruction &instr);
/// The bodies of all instructions of \p function, without those inside them.
std::vector<IRFunction *> getNested(const IRFunction &function);
/// Calls \p visit with \p function and all bodies inside it.
void forEachFunction(
    const IRFunction &function,
    llvm::function_ref<void(const IRFunction &function)> visit);

/// Returns the predicate of \p instr if it can be that of a result of
/// \p shape, which has the elements of its own in the same order; else null.
Buffer *getPredicateFor(const Instruction &instr, DimsRef shape);
/// Returns whether \p a and \p b have the same predicate, or none.
bool haveSamePredicate(const Instruction &a, const Instruction &b);

/// Structure, types (the record's type rule), strided and in-place operands,
/// views inside their base, every activation used only between its Alloc and
/// Dealloc and written before it is read; the same of all bodies, each of which
/// writes its results.
llvm::Error verify(const IRFunction &function);

/// The location of an error of verify(): an instruction, the innermost one
/// where it is in a body, and a buffer; null where there is none.
struct IRFault {
  const Instruction *instr = nullptr;
  const Buffer *buffer = nullptr;
};
llvm::Error verify(const IRFunction &function, IRFault &fault);

} // namespace glowish

#endif // GLOWISH_IR_IR_H
