//===- Anchors.cpp - Convolutions and products made ready -----------------===//

#include "Anchors.h"
#include "Kernels/SplitImage.h"
#include "glowish/IR/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <cstring>
#include <map>

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
      : function(function), target(target), choose(choose) {}
  void prepare(ConvolutionInstr &instr);
  void prepare(MatMulInstr &instr);
  void finish() { llvm::cantFail(placeLifetimes(function, IRPassContext())); }

private:
  /// What an anchor of either kind comes down to.
  struct Anchor {
    Instruction &instr;
    Buffer *result, *input, *filter, *bias;
    llvm::SmallVector<Buffer *, 4> fused;
    std::vector<int64_t> kernels, strides, pads, dilations;
    int64_t group;
    const ScalarProgram &epilogue;
    /// Strides of the filter's element (group, kh, kw, c, n).
    Dims filterStrides;
  };

  void replace(const Anchor &anchor);
  ConvolutionShape getShape(const Anchor &anchor) const;
  Buffer *packConstant(const Anchor &anchor, const ConvolutionShape &shape,
                       unsigned block);
  struct SplitFilter {
    Buffer *digits = nullptr, *scales = nullptr;
  };
  SplitFilter packSplit(const Anchor &anchor, const ConvolutionShape &shape);
  Buffer *packWinograd(const Anchor &anchor, const ConvolutionShape &shape,
                       const ConvolutionChoice &choice);
  void replaceSplit(const Anchor &anchor, const ConvolutionShape &shape);
  void replaceWinograd(const Anchor &anchor, const ConvolutionShape &shape,
                       const ConvolutionChoice &choice);
  Buffer *packAtRunTime(const Anchor &anchor, const ConvolutionShape &shape);
  Buffer *viewAsImage(Buffer *buffer);

  IRFunction &function;
  const TargetDescription &target;
  ConvolutionChooser choose;
  std::map<Buffer *, SplitFilter> splitFilters;
  /// Weights that several instructions share are packed once for each block.
  std::map<std::pair<Buffer *, unsigned>, Buffer *> packed;
  /// By the size of tiles, too.
  std::map<std::tuple<Buffer *, int64_t, int64_t, unsigned>, Buffer *>
      winogradFilters;
};

} // namespace

ConvolutionShape AnchorPreparer::getShape(const Anchor &anchor) const {
  return makeShape(anchor.input->getShape(), anchor.result->getShape(),
                   anchor.kernels, anchor.strides, anchor.pads,
                   anchor.dilations, anchor.group);
}

/// The filter's digits and scales.
AnchorPreparer::SplitFilter
AnchorPreparer::packSplit(const Anchor &anchor, const ConvolutionShape &shape) {
  SplitFilter &result = splitFilters[anchor.filter];
  if (result.digits)
    return result;
  const auto *weights =
      reinterpret_cast<const float *>(anchor.filter->getTensor().getBytes());
  SplitWeights split =
      splitWeights(shape, weights, DimsRef(anchor.filterStrides).drop_front());
  auto create = [&](Tensor tensor) {
    return function.createConstant(
        anchor.filter->getName(),
        std::make_shared<const Tensor>(std::move(tensor)));
  };
  result.digits = create(std::move(split.digits));
  result.scales = create(std::move(split.scales));
  return result;
}

void AnchorPreparer::replaceSplit(const Anchor &anchor,
                                  const ConvolutionShape &shape) {
  SplitFilter filter = packSplit(anchor, shape);
  auto draft = CPUSplitConvolutionInstr::draft(
      anchor.result, anchor.input, filter.digits, filter.scales, anchor.bias,
      anchor.kernels, anchor.strides, anchor.pads, anchor.dilations,
      anchor.fused, anchor.epilogue);
  function.create(anchor.instr.getName(), std::move(draft), &anchor.instr);
  function.erase(&anchor.instr);
}

Buffer *AnchorPreparer::packWinograd(const Anchor &anchor,
                                     const ConvolutionShape &shape,
                                     const ConvolutionChoice &choice) {
  auto [height, width] = choice.size;
  Buffer *&result =
      winogradFilters[{anchor.filter, height, width, choice.block}];
  if (!result) {
    const auto *weights =
        reinterpret_cast<const float *>(anchor.filter->getTensor().getBytes());
    Tensor tensor =
        glowish::packWinograd(shape, choice.size, choice.block, weights,
                              DimsRef(anchor.filterStrides).drop_front());
    result = function.createConstant(
        anchor.filter->getName(),
        std::make_shared<const Tensor>(std::move(tensor)));
  }
  return result;
}

void AnchorPreparer::replaceWinograd(const Anchor &anchor,
                                     const ConvolutionShape &shape,
                                     const ConvolutionChoice &choice) {
  auto draft = CPUWinogradConvolutionInstr::draft(
      anchor.result, anchor.input, packWinograd(anchor, shape, choice),
      anchor.bias, anchor.kernels, anchor.pads,
      llvm::ArrayRef<int64_t>{choice.size.height, choice.size.width},
      choice.block, anchor.fused, anchor.epilogue);
  function.create(anchor.instr.getName(), std::move(draft), &anchor.instr);
  function.erase(&anchor.instr);
}

Buffer *AnchorPreparer::packConstant(const Anchor &anchor,
                                     const ConvolutionShape &shape,
                                     unsigned block) {
  Buffer *&result = packed[{anchor.filter, block}];
  if (result)
    return result;
  const Tensor &filter = anchor.filter->getTensor();
  ElemKind kind = filter.getType().getKind();
  size_t size = getElemSize(kind);
  WeightLayout layout = getPackedLayout(shape, block);
  Tensor tensor(Type(kind, {getPackedSize(shape, block)}));
  auto *source = static_cast<const uint8_t *>(filter.getBytes());
  auto *target = static_cast<uint8_t *>(tensor.getBytes());
  int64_t depth = shape.getGroupChannels();
  for (int64_t g = 0; g < shape.group; ++g)
    for (int64_t n = 0; n < shape.getGroupOutChannels(); ++n)
      for (int64_t kh = 0; kh < shape.kernelH; ++kh)
        for (int64_t kw = 0; kw < shape.kernelW; ++kw)
          for (int64_t c = 0; c < depth; ++c) {
            const Dims &s = anchor.filterStrides;
            int64_t from =
                g * s[0] + kh * s[1] + kw * s[2] + c * s[3] + n * s[4];
            int64_t to =
                g * layout.groupStride + n / block * layout.blockStride +
                ((kh * shape.kernelW + kw) * depth + c) * layout.rowStride +
                n % block;
            std::memcpy(target + to * size, source + from * size, size);
          }
  result = function.createConstant(
      anchor.filter->getName(),
      std::make_shared<const Tensor>(std::move(tensor)));
  return result;
}

Buffer *AnchorPreparer::packAtRunTime(const Anchor &anchor,
                                      const ConvolutionShape &shape) {
  Type type(anchor.filter->getType().getKind(),
            {shape.group, shape.kernelH, shape.kernelW,
             shape.getGroupChannels(), shape.getGroupOutChannels()});
  Buffer *view =
      function.createView(anchor.filter->getName(), anchor.filter, type,
                          anchor.filter->getOffset(), anchor.filterStrides);
  Buffer *result = function.createActivation(anchor.filter->getName(), type);
  function.create(anchor.instr.getName(), CopyInstr::draft(result, view),
                  &anchor.instr);
  return result;
}

void AnchorPreparer::replace(const Anchor &anchor) {
  ConvolutionShape shape = getShape(anchor);
  ElemKind kind = anchor.input->getType().getKind();
  unsigned lanes = target.getComputeLanes(kind);
  bool isConstant = anchor.filter->getKind() == Buffer::Kind::Constant;
  Tile tile = chooseTile(shape, kind, target);
  if (isConstant && !isDepthwise(shape)) {
    ConvolutionChoice choice =
        choose(shape, kind, StridedOperand(nullptr, *anchor.input).strides,
               *anchor.filter);
    if (choice.algorithm == ConvolutionChoice::Algorithm::Split)
      return replaceSplit(anchor, shape);
    if (choice.algorithm == ConvolutionChoice::Algorithm::Winograd)
      return replaceWinograd(anchor, shape, choice);
    tile = choice.tile;
  }
  bool isBlocked = isConstant && !isDepthwise(shape);
  Buffer *filter = nullptr;
  if (isDepthwise(shape)) {
    // [kh][kw][channel] is blocks of all channels with one row a tap.
    ConvolutionShape flat = shape;
    flat.group = 1;
    flat.channels = 1;
    Anchor transposed = anchor;
    const Dims &s = anchor.filterStrides;
    transposed.filterStrides = {0, s[1], s[2], 0, s[0]};
    filter = isConstant
                 ? packConstant(transposed, flat, unsigned(shape.channels))
                 : packAtRunTime(transposed, flat);
  } else {
    filter = isConstant ? packConstant(anchor, shape, tile.vectors * lanes)
                        : packAtRunTime(anchor, shape);
  }
  auto draft = CPUConvolutionInstr::draft(
      anchor.result, anchor.input, filter, anchor.bias, anchor.kernels,
      anchor.strides, anchor.pads, anchor.dilations, anchor.group,
      llvm::ArrayRef<int64_t>{tile.pixels, tile.vectors}, isBlocked,
      anchor.fused, anchor.epilogue);
  function.create(anchor.instr.getName(), std::move(draft), &anchor.instr);
  function.erase(&anchor.instr);
}

void AnchorPreparer::prepare(ConvolutionInstr &instr) {
  DimsRef filter = instr.getFilter()->getShape();
  int64_t depth = filter[3], taps = filter[1] * filter[2] * depth;
  int64_t outPerGroup = filter[0] / instr.getGroup();
  replace({instr,
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
           {outPerGroup * taps, filter[2] * depth, depth, 1, taps}});
}

namespace {
/// Extents and strides of rank 4.
struct ImageLayout {
  Dims shape, strides;
};
} // namespace

/// A buffer of rank 2 to 4 with leading dimensions of extent 1.
static ImageLayout getImageLayout(const Buffer *buffer) {
  unsigned rank = buffer->getType().getRank();
  Dims shape(4 - rank, 1), strides(4 - rank, 0);
  llvm::append_range(shape, buffer->getShape());
  llvm::append_range(strides, StridedOperand(nullptr, *buffer).strides);
  return {shape, strides};
}

/// The same as a view.
Buffer *AnchorPreparer::viewAsImage(Buffer *buffer) {
  if (buffer->getType().getRank() == 4)
    return buffer;
  auto [shape, strides] = getImageLayout(buffer);
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), strides);
}

/// Whether the right side is a constant matrix: packing pays, and is free.
static bool isAnchor(const MatMulInstr &instr) {
  const Buffer *rhs = instr.getRhs();
  return rhs->getKind() == Buffer::Kind::Constant &&
         rhs->getType().getRank() == 2 &&
         instr.getLhs()->getType().getRank() <= 4 &&
         isFloatKind(rhs->getType().getKind());
}

void AnchorPreparer::prepare(MatMulInstr &instr) {
  if (!isAnchor(instr))
    return;
  Buffer *rhs = instr.getRhs();
  int64_t depth = rhs->getShape()[0], columns = rhs->getShape()[1];
  llvm::SmallVector<Buffer *, 4> fused;
  for (Buffer *buffer : instr.getFused())
    fused.push_back(viewAsImage(buffer));
  replace({instr,
           viewAsImage(instr.getResult()),
           viewAsImage(instr.getLhs()),
           rhs,
           nullptr,
           fused,
           {1, 1},
           {1, 1},
           {0, 0, 0, 0},
           {1, 1},
           1,
           instr.getEpilogue(),
           {depth * columns, 0, 0, columns, 1}});
}

void glowish::prepareAnchors(IRFunction &function,
                             const TargetDescription &target,
                             ConvolutionChooser choose) {
  AnchorPreparer preparer(function, target, choose);
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();) {
    Instruction &instr = *it++;
    if (auto *convolution = llvm::dyn_cast<ConvolutionInstr>(&instr))
      preparer.prepare(*convolution);
    else if (auto *product = llvm::dyn_cast<MatMulInstr>(&instr))
      preparer.prepare(*product);
  }
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
      ConvolutionShape shape = makeShape(
          input->getShape(), convolution->getResult()->getShape(),
          filter->getShape().slice(1, 2), convolution->getStrides(),
          convolution->getPads(), convolution->getDilations(),
          convolution->getGroup());
      if (filter->getKind() == Buffer::Kind::Constant && !isDepthwise(shape))
        visit(shape, input->getType().getKind(),
              StridedOperand(nullptr, *input).strides, *filter);
    } else if (auto *product = llvm::dyn_cast<MatMulInstr>(&instr)) {
      if (!isAnchor(*product))
        continue;
      ImageLayout input = getImageLayout(product->getLhs());
      ImageLayout result = getImageLayout(product->getResult());
      visit(makeShape(input.shape, result.shape, {1, 1}, {1, 1}, {0, 0, 0, 0},
                      {1, 1}, 1),
            product->getLhs()->getType().getKind(), input.strides,
            *product->getRhs());
    }
  }
}
