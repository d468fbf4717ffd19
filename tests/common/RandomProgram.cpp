//===- RandomProgram.cpp - Programs that passes are tried on --------------===//

#include "RandomProgram.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/StridedLayout.h"
#include "glowish/Support/Random.h"

using namespace glowish;
using namespace glowish::test;

namespace {

class ProgramMaker {
public:
  explicit ProgramMaker(uint64_t seed) : random(seed) {}

  std::unique_ptr<IRFunction> make() {
    function = std::make_unique<IRFunction>("random");
    for (unsigned i = 0; i < 2; ++i)
      values.push_back(makeMutable(makeShape(), true, i == 1));
    values.push_back(makeConstant(makeShape()));
    for (unsigned count = 3 + random.below(14); count > 0; --count)
      addInstr();
    for (unsigned count = 1 + random.below(3); count > 0; --count) {
      Buffer *value = random.below(2) ? values.back() : pickValue();
      Buffer *output = makeMutable(value->getShape(), false, true);
      function->create<CopyInstr>("save", output, value);
    }
    llvm::cantFail(insertLifetimes(*function, IRPassContext()));
    return std::move(function);
  }

private:
  static Type makeType(DimsRef shape) { return Type(ElemKind::Float, shape); }

  Dims makeShape() {
    static const int64_t extents[] = {1, 2, 3, 3, 4, 7};
    Dims shape;
    for (unsigned rank = 1 + random.below(3); shape.size() < rank;)
      shape.push_back(extents[random.below(std::size(extents))]);
    return shape;
  }

  Buffer *makeMutable(DimsRef shape, bool input, bool output) {
    return function->createMutable("m", makeType(shape), "model", input,
                                   output);
  }

  Buffer *makeConstant(DimsRef shape) {
    auto tensor = std::make_shared<Tensor>(makeType(shape));
    for (int64_t i = 0; i < tensor->getNumElements(); ++i)
      tensor->setFromDouble(i, double(random.below(7)) - 3);
    return function->createConstant("c", tensor);
  }

  Buffer *makeActivation(DimsRef shape) {
    return function->createActivation("a", makeType(shape));
  }

  Buffer *pickValue() {
    // Recent values more often, so that chains become long.
    size_t recent = std::min<size_t>(values.size(), 3);
    return random.below(2) ? values[values.size() - 1 - random.below(recent)]
                           : values[random.below(values.size())];
  }

  /// A view of \p base with any strides that stay inside; they may repeat.
  Buffer *makeAnyView(Buffer *base, DimsRef shape) {
    if (base->getShape() == shape && random.below(3))
      return base;
    int64_t space = base->getType().getNumElements() - 1;
    StridedLayout outer = {Dims(shape), 0, Dims(shape.size(), 0)};
    for (unsigned d = shape.size(); d-- > 0;) {
      int64_t steps = shape[d] - 1;
      if (steps > 0)
        outer.strides[d] = random.below(space / steps + 1);
      space -= steps * outer.strides[d];
    }
    outer.offset = random.below(space + 1);
    StridedLayout layout = *compose(StridedLayout::of(*base), outer);
    return getView(*function, "v", base->getRoot(), makeType(shape), layout);
  }

  /// A box of \p base that keeps at least one index of each dimension.
  Buffer *makeBox(Buffer *base) {
    StridedLayout layout = StridedLayout::of(*base);
    for (unsigned d = 0; d < layout.shape.size(); ++d) {
      int64_t start = random.below(layout.shape[d]);
      layout.offset += start * layout.strides[d];
      layout.shape[d] = 1 + random.below(layout.shape[d] - start);
    }
    return getView(*function, "box", base->getRoot(), makeType(layout.shape),
                   layout);
  }

  ScalarProgram makeProgram(unsigned numInputs) {
    static const ScalarOp ops[] = {ScalarOp::Add,  ScalarOp::Sub,
                                   ScalarOp::Mul,  ScalarOp::Max,
                                   ScalarOp::Relu, ScalarOp::Exp};
    ScalarProgram program;
    for (unsigned count = random.below(4); count > 0; --count) {
      ScalarStep step;
      step.op = ops[random.below(std::size(ops))];
      for (unsigned i = 0; i < getScalarOpInfo(step.op).numArgs; ++i)
        step.args.push_back(random.below(numInputs + program.steps.size()));
      program.steps.push_back(step);
    }
    return program;
  }

  bool isWritable(const Buffer *buffer) const {
    return const_cast<Buffer *>(buffer)->getRoot()->getKind() !=
           Buffer::Kind::Constant;
  }

  /// Whether a loop may read \p inputs and write \p result.
  bool mayLoop(llvm::ArrayRef<Buffer *> inputs, Buffer *result) const {
    return llvm::all_of(inputs, [&](Buffer *input) {
      return input->getRoot() != result->getRoot() ||
             areDisjoint(StridedLayout::of(*input),
                         StridedLayout::of(*result)) ||
             isSame(StridedLayout::of(*input), StridedLayout::of(*result));
    });
  }

  void addLoop(Buffer *result) {
    DimsRef shape = result->getShape();
    llvm::SmallVector<Buffer *, 4> inputs;
    for (unsigned count = 1 + random.below(3); count > 0; --count)
      inputs.push_back(makeAnyView(pickValue(), shape));
    if (random.below(4) == 0)
      inputs[0] = result; // in place
    bool isDefined = result->getRoot()->getUsers().size() > 0 ||
                     !result->getRoot()->getViews().empty();
    if (!mayLoop(inputs, result) || (inputs[0] == result && !isDefined))
      inputs.assign({makeAnyView(values[2], shape)}); // the constant
    function->create<ElementWiseLoopInstr>("loop", result,
                                           makeProgram(inputs.size()),
                                           llvm::ArrayRef<Buffer *>(inputs));
  }

  void addConcat() {
    if (concatParts.empty() || random.below(2)) {
      concatParts = {pickValue()};
      concatAxis = random.below(concatParts[0]->getType().getRank());
    } else if (random.below(4) == 0) {
      concatParts.pop_back(); // a shorter one after a longer one
      if (concatParts.empty())
        return;
    }
    Buffer *first = concatParts[0];
    for (Buffer *value : llvm::reverse(values))
      if (value->getShape() == first->getShape() && concatParts.size() < 4 &&
          random.below(2))
        concatParts.push_back(value);
    llvm::ArrayRef<Buffer *> parts = concatParts;
    unsigned axis = concatAxis;
    Dims shape(first->getShape());
    shape[axis] *= parts.size();
    Buffer *result = makeActivation(shape);
    StridedLayout box = StridedLayout::dense(shape);
    box.shape = Dims(first->getShape());
    for (Buffer *part : parts) {
      function->create<CopyInstr>(
          "concat",
          getView(*function, "part", result, makeType(box.shape), box), part);
      box.offset += box.shape[axis] * box.strides[axis];
    }
    values.push_back(result);
  }

  void addCopy() {
    Buffer *source = pickValue();
    StridedLayout layout = StridedLayout::of(*source);
    if (lastCopied && random.below(3) == 0) {
      source = lastCopied;        // the same again
    } else if (random.below(2)) { // transposed
      std::reverse(layout.shape.begin(), layout.shape.end());
      std::reverse(layout.strides.begin(), layout.strides.end());
      source = getView(*function, "t", source->getRoot(),
                       makeType(layout.shape), layout);
    } else {
      source = makeAnyView(source, makeShape());
    }
    lastCopied = source;
    values.push_back(makeActivation(source->getShape()));
    function->create<CopyInstr>("copy", values.back(), source);
  }

  void addPartialWrite() {
    Buffer *value = pickValue();
    Buffer *box = random.below(3) ? makeBox(value) : value;
    if (!isWritable(box))
      return;
    if (random.below(3) == 0)
      function->create<FillInstr>("fill", box, double(random.below(5)));
    else
      addLoop(box);
  }

  void addReshape() { values.push_back(makeReshaped(pickValue())); }

  /// A view of \p value, which is dense, in one or two dimensions.
  Buffer *makeReshaped(Buffer *value) {
    Dims shape = {value->getType().getNumElements()};
    for (int64_t factor : {2, 3, 7})
      if (shape[0] % factor == 0 && random.below(2))
        shape = {shape[0] / factor, factor};
    return function->createView("r", value->getRoot(), makeType(shape),
                                value->getOffset(), getDenseStrides(shape));
  }

  void addMatMul() {
    Buffer *lhs = pickValue();
    if (lhs->getType().getRank() < 2)
      return;
    Dims shape(lhs->getShape());
    Buffer *rhs = makeConstant({shape.back(), 2});
    shape.back() = 2;
    Buffer *fused = makeAnyView(pickValue(), shape);
    values.push_back(makeActivation(shape));
    function->create("matmul", MatMulInstr::draft(values.back(), lhs, rhs,
                                                  {fused}, makeProgram(2)));
    if (random.below(2))
      return;
    // What a loop makes of it under another shape, perhaps after something
    // else, perhaps in a place that is in use.
    Buffer *source = values.back();
    if (random.below(3) == 0)
      addPartialWrite();
    Buffer *reshaped = makeReshaped(source);
    Buffer *other = makeAnyView(pickValue(), reshaped->getShape());
    Buffer *result = makeActivation(reshaped->getShape());
    if (random.below(2))
      for (Buffer *value : values)
        if (value->getShape() == reshaped->getShape() && isWritable(value))
          result = value;
    if (!mayLoop({reshaped, other}, result))
      return;
    values.push_back(result);
    llvm::SmallVector<Buffer *, 4> inputs = {reshaped, other};
    function->create<ElementWiseLoopInstr>("epilogue", result, makeProgram(2),
                                           llvm::ArrayRef<Buffer *>(inputs));
  }

  void addSoftmax() {
    Buffer *value = pickValue();
    values.push_back(makeActivation(value->getShape()));
    function->create<SoftmaxInstr>("softmax", values.back(), value,
                                   value->getType().getRank() - 1);
  }

  void addInstr() {
    switch (random.below(10)) {
    case 0:
      return addConcat();
    case 1:
      return addCopy();
    case 2:
      return addPartialWrite();
    case 3:
      return addReshape();
    case 4:
      return addMatMul();
    case 5:
      return addSoftmax();
    case 6:
      values.push_back(makeActivation(makeShape()));
      function->create<FillInstr>("fill", values.back(),
                                  double(random.below(5)));
      return;
    default:
      Buffer *result = makeActivation(
          random.below(3) ? Dims(pickValue()->getShape()) : makeShape());
      addLoop(result);
      values.push_back(result);
    }
  }

  Random random;
  std::unique_ptr<IRFunction> function;
  /// Dense buffers of which every element has a value.
  std::vector<Buffer *> values;
  /// The last concatenation; the next may have the same parts and more.
  std::vector<Buffer *> concatParts;
  unsigned concatAxis = 0;
  /// The source of the last copy.
  Buffer *lastCopied = nullptr;
};

} // namespace

std::unique_ptr<IRFunction> test::makeRandomProgram(uint64_t seed) {
  return ProgramMaker(seed).make();
}
