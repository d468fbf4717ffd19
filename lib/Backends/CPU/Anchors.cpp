//===- Anchors.cpp - Convolutions and products made ready -----------------===//

#include "Anchors.h"
#include "FilterPacker.h"
#include "Instrs.h"
#include "Kernels/Products.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

/// \p in and \p out: [N, H, W, C].
static ConvolutionShape
makeShape(DimsRef in, DimsRef out, llvm::ArrayRef<int64_t> kernels,
          llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads,
          llvm::ArrayRef<int64_t> dilations, int64_t group) {
  return {in[0],      in[1],   in[2],        in[3],
          out[1],     out[2],  out[3],       kernels[0],
          kernels[1], group,   strides[0],   strides[1],
          pads[0],    pads[1], dilations[0], dilations[1]};
}

ConvolutionShape
glowish::getConvolutionShape(const CPUConvolutionInstr &instr) {
  return makeShape(instr.getInput()->getShape(), instr.getResult()->getShape(),
                   instr.getKernels(), instr.getStrides(), instr.getPads(),
                   instr.getDilations(), instr.getGroup());
}

ConvolutionShape
glowish::getConvolutionShape(const CPUWinogradConvolutionInstr &instr) {
  return makeShape(instr.getInput()->getShape(), instr.getResult()->getShape(),
                   instr.getKernels(), {1, 1}, instr.getPads(), {1, 1}, 1);
}

ConvolutionShape
glowish::getConvolutionShape(const CPUSplitConvolutionInstr &instr) {
  return makeShape(instr.getInput()->getShape(), instr.getResult()->getShape(),
                   instr.getKernels(), instr.getStrides(), instr.getPads(),
                   instr.getDilations(), 1);
}

ConvolutionShape
glowish::getConvolutionShape(const ConvolutionFilterGradientInstr &instr) {
  return makeShape(instr.getInput()->getShape(),
                   instr.getGradient()->getShape(), instr.getKernels(),
                   instr.getStrides(), instr.getPads(), instr.getDilations(),
                   instr.getGroup());
}

namespace {

class AnchorPreparer {
public:
  AnchorPreparer(IRFunction &function, const TargetDescription &target,
                 ConvolutionChooser choose)
      : function(function), target(target), choose(choose), packer(function) {}
  void visit(Instruction &instr);
  void finish() { llvm::cantFail(insertLifetimes(function, IRPassContext())); }

private:
  void prepare(ConvolutionInstr &instr);
  void prepare(MatMulInstr &instr);
  void replace(const Anchor &anchor, const ConvolutionChoice &choice);
  void replaceDirect(const Anchor &anchor, const ConvolutionShape &shape,
                     Tile tile);
  void replaceSplit(const Anchor &anchor, const ConvolutionShape &shape);
  void replaceWinograd(const Anchor &anchor, const ConvolutionShape &shape,
                       const ConvolutionChoice &choice);
  ConvolutionShape getShape(const Anchor &anchor) const;
  ConvolutionChoice chooseFor(const Anchor &anchor);
  Buffer *viewAsImage(Buffer *buffer, bool areOneRow);
  void makeDense(MatMulInstr &instr, unsigned operand);

  IRFunction &function;
  const TargetDescription &target;
  ConvolutionChooser choose;
  FilterPacker packer;
  /// Of filters that are no constants, at the beginning.
  llvm::DenseMap<const Buffer *, int64_t> numUses;
};

} // namespace

ConvolutionShape AnchorPreparer::getShape(const Anchor &anchor) const {
  return makeShape(anchor.input->getShape(), anchor.result->getShape(),
                   anchor.kernels, anchor.strides, anchor.pads,
                   anchor.dilations, anchor.group);
}

/// Whether the instruction itself computes with a filter in such an order: a
/// MatMul takes a right side in rows.
static bool isInRows(const Anchor &anchor) {
  return llvm::isa<MatMulInstr>(anchor.instr) &&
         StridedOperand(nullptr, *anchor.filter).getInnerStride() == 1;
}

ConvolutionChoice AnchorPreparer::chooseFor(const Anchor &anchor) {
  ConvolutionShape shape = getShape(anchor);
  ElemKind kind = anchor.input->getType().getKind();
  Dims strides = StridedOperand(nullptr, *anchor.input).strides;
  if (isDepthwise(shape)) {
    ConvolutionChoice choice;
    choice.tile = chooseTile(shape, kind, target);
    return choice;
  }
  if (isConstant(*anchor.filter))
    return choose(shape, kind, strides, *anchor.filter);
  auto users = int64_t(anchor.filter->getUsers().size());
  int64_t uses = numUses.try_emplace(anchor.filter, users).first->second;
  return choosePacking(shape, kind, strides, target, uses, isInRows(anchor));
}

void AnchorPreparer::replaceSplit(const Anchor &anchor,
                                  const ConvolutionShape &shape) {
  FilterPacker::SplitFilter filter = packer.getSplit(anchor, shape);
  auto draft = CPUSplitConvolutionInstr::draft(
      anchor.result, anchor.input, filter.digits, filter.scales, anchor.bias,
      anchor.kernels, anchor.strides, anchor.pads, anchor.dilations,
      anchor.fused, anchor.epilogue);
  function.create(anchor.instr.getName(), std::move(draft), &anchor.instr);
  function.erase(&anchor.instr);
}

void AnchorPreparer::replaceWinograd(const Anchor &anchor,
                                     const ConvolutionShape &shape,
                                     const ConvolutionChoice &choice) {
  auto draft = CPUWinogradConvolutionInstr::draft(
      anchor.result, anchor.input, packer.getWinograd(anchor, shape, choice),
      anchor.bias, anchor.kernels, anchor.pads,
      llvm::ArrayRef<int64_t>{choice.size.height, choice.size.width},
      choice.block, anchor.fused, anchor.epilogue);
  function.create(anchor.instr.getName(), std::move(draft), &anchor.instr);
  function.erase(&anchor.instr);
}

void AnchorPreparer::replaceDirect(const Anchor &anchor,
                                   const ConvolutionShape &shape, Tile tile) {
  ElemKind kind = anchor.input->getType().getKind();
  Buffer *filter = nullptr;
  if (isDepthwise(shape)) {
    // [kh][kw][channel] is blocks of all channels with one row a tap.
    ConvolutionShape flat = shape;
    flat.group = 1;
    flat.channels = 1;
    Anchor transposed = anchor;
    const Dims &s = anchor.filterStrides;
    transposed.filterStrides = {0, s[1], s[2], 0, s[0]};
    filter = packer.getBlocks(transposed, flat, unsigned(shape.channels));
  } else {
    filter = packer.getBlocks(anchor, shape,
                              tile.vectors * target.getComputeLanes(kind));
  }
  auto draft = CPUConvolutionInstr::draft(
      anchor.result, anchor.input, filter, anchor.bias, anchor.kernels,
      anchor.strides, anchor.pads, anchor.dilations, anchor.group,
      llvm::ArrayRef<int64_t>{tile.pixels, tile.vectors},
      /*blocked=*/!isDepthwise(shape), anchor.fused, anchor.epilogue);
  function.create(anchor.instr.getName(), std::move(draft), &anchor.instr);
  function.erase(&anchor.instr);
}

//===- Anchors ------------------------------------------------------------===//

void AnchorPreparer::replace(const Anchor &anchor,
                             const ConvolutionChoice &choice) {
  ConvolutionShape shape = getShape(anchor);
  switch (choice.algorithm) {
  case ConvolutionChoice::Algorithm::Split:
    return replaceSplit(anchor, shape);
  case ConvolutionChoice::Algorithm::Winograd:
    return replaceWinograd(anchor, shape, choice);
  case ConvolutionChoice::Algorithm::Direct:
    return replaceDirect(anchor, shape, choice.tile);
  }
}

void AnchorPreparer::prepare(ConvolutionInstr &instr) {
  DimsRef filter = instr.getFilter()->getShape();
  int64_t outPerGroup = filter[0] / instr.getGroup();
  Dims strides = StridedOperand(nullptr, *instr.getFilter()).strides;
  Anchor anchor = {instr,
                   instr.getResult(),
                   instr.getInput(),
                   instr.getFilter(),
                   instr.getBias(),
                   instr.getFused(),
                   {filter[1], filter[2]},
                   instr.getStrides().vec(),
                   instr.getPads().vec(),
                   instr.getDilations().vec(),
                   instr.getGroup(),
                   instr.getEpilogue(),
                   {outPerGroup * strides[0], strides[1], strides[2],
                    strides[3], strides[0]}};
  replace(anchor, chooseFor(anchor));
}

namespace {
/// Extents and strides of rank 4.
struct ImageLayout {
  Dims shape, strides;
};
} // namespace

/// Whether the matrices that \p instr multiplies are one row each. A tile is
/// pixels side by side: of such rows it would be one.
static bool hasOneRow(const MatMulInstr &instr) {
  return instr.getResult()->getShape().drop_back().back() == 1;
}

/// A buffer of rank 2 to 4 with leading dimensions of extent 1. \p areOneRow:
/// what the matrices are one row of are the pixels side by side.
static ImageLayout getImageLayout(const Buffer *buffer, bool areOneRow) {
  unsigned rank = buffer->getType().getRank();
  Dims shape(4 - rank, 1), strides(4 - rank, 0);
  llvm::append_range(shape, buffer->getShape());
  llvm::append_range(strides, StridedOperand(nullptr, *buffer).strides);
  if (areOneRow)
    for (Dims *dims : {&shape, &strides})
      std::rotate(dims->begin(), dims->begin() + 2, dims->begin() + 3);
  return {shape, strides};
}

/// The same as a view.
Buffer *AnchorPreparer::viewAsImage(Buffer *buffer, bool areOneRow) {
  if (buffer->getType().getRank() == 4 && !areOneRow)
    return buffer;
  auto [shape, strides] = getImageLayout(buffer, areOneRow);
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), strides);
}

/// Whether the right side is one matrix for all of the left one: it can be
/// packed. Without being constant, where its elements are copied quickly.
static bool isAnchor(const MatMulInstr &instr) {
  const Type &rhs = instr.getRhs()->getType();
  bool isWide =
      rhs.getKind() == ElemKind::Float || rhs.getKind() == ElemKind::Double;
  return rhs.getRank() == 2 && instr.getLhs()->getType().getRank() <= 4 &&
         (isConstant(*instr.getRhs()) ? isFloatKind(rhs.getKind()) : isWide);
}

/// Makes rows of neighbours that lie side by side.
void AnchorPreparer::makeDense(MatMulInstr &instr, unsigned operand) {
  Buffer *buffer = instr.getOperand(operand);
  if (StridedOperand(nullptr, *buffer).getInnerStride() != 1)
    instr.setOperand(operand, packer.getDense(buffer, instr));
}

/// Whether \p buffer is a matrix with columns of neighbours: the matrix units'
/// kernel turns such a left side itself.
static bool isTurned(const Buffer &buffer) {
  Dims strides = StridedOperand(nullptr, buffer).strides;
  return strides.size() == 2 && strides[0] == 1 && strides[1] != 1;
}

void AnchorPreparer::prepare(MatMulInstr &instr) {
  Buffer *rhs = instr.getRhs();
  if (!isAnchor(instr)) {
    for (unsigned operand : {MatMulInstr::lhsIdx, MatMulInstr::rhsIdx})
      if (!packsOperand(instr, operand, target))
        makeDense(instr, operand);
    return;
  }
  if (isConstant(*rhs) || !isTurned(*instr.getLhs()))
    makeDense(instr, MatMulInstr::lhsIdx);
  Dims strides = StridedOperand(nullptr, *rhs).strides;
  bool areOneRow = hasOneRow(instr);
  llvm::SmallVector<Buffer *, 4> fused;
  for (Buffer *buffer : instr.getFused())
    fused.push_back(viewAsImage(buffer, areOneRow));
  Anchor anchor = {instr,
                   viewAsImage(instr.getResult(), areOneRow),
                   viewAsImage(instr.getLhs(), areOneRow),
                   rhs,
                   nullptr,
                   fused,
                   {1, 1},
                   {1, 1},
                   {0, 0, 0, 0},
                   {1, 1},
                   1,
                   instr.getEpilogue(),
                   {0, 0, 0, strides[0], strides[1]}};
  ConvolutionChoice choice = chooseFor(anchor);
  if (choice.algorithm != ConvolutionChoice::Algorithm::Split) {
    makeDense(instr, MatMulInstr::lhsIdx);
    anchor.input = viewAsImage(instr.getLhs(), areOneRow);
  }
  if (choice.isBlocked)
    replace(anchor, choice);
}

void AnchorPreparer::visit(Instruction &instr) {
  packer.invalidate(instr);
  if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr))
    prepare(*convolution);
  else if (auto *product = llvm::dyn_cast<MatMulInstr>(&instr))
    prepare(*product);
}

void glowish::prepareAnchors(IRFunction &function,
                             const TargetDescription &target,
                             ConvolutionChooser choose) {
  AnchorPreparer preparer(function, target, choose);
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();)
    preparer.visit(*it++);
  llvm::cantFail(eliminateDeadStores(function, IRPassContext()));
  preparer.finish();
}

void glowish::visitChoices(
    const IRFunction &function,
    llvm::function_ref<void(const ConvolutionShape &, ElemKind, DimsRef,
                            const Buffer &)>
        visit) {
  for (const Instruction &instr : function.getInstrs()) {
    if (llvm::any_of(instr.getOperands(), [](const Buffer *operand) {
          return operand && operand->getType().getNumElements() == 0;
        }))
      continue;
    if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr)) {
      const Buffer *input = convolution->getInput();
      const Buffer *filter = convolution->getFilter();
      ConvolutionShape shape =
          makeShape(input->getShape(), convolution->getResult()->getShape(),
                    filter->getShape().slice(1, 2), convolution->getStrides(),
                    convolution->getPads(), convolution->getDilations(),
                    convolution->getGroup());
      if (isConstant(*filter) && !isDepthwise(shape))
        visit(shape, input->getType().getKind(),
              StridedOperand(nullptr, *input).strides, *filter);
    } else if (auto *product = llvm::dyn_cast<MatMulInstr>(&instr)) {
      if (!isConstant(*product->getRhs()) || !isAnchor(*product))
        continue;
      bool areOneRow = hasOneRow(*product);
      ImageLayout input = getImageLayout(product->getLhs(), areOneRow);
      if (input.strides.back() != 1)
        input.strides = getDenseStrides(input.shape);
      ImageLayout result = getImageLayout(product->getResult(), areOneRow);
      visit(makeShape(input.shape, result.shape, {1, 1}, {1, 1}, {0, 0, 0, 0},
                      {1, 1}, 1),
            product->getLhs()->getType().getKind(), input.strides,
            *product->getRhs());
    }
  }
}
