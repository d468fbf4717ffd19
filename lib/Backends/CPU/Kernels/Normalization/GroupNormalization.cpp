//===- GroupNormalization.cpp - Normalization of groups of channels -------===//
//
// A task is some groups of an image; it makes two passes over the pixels. The
// first one loads a few pixels at a time into registers and merges their mean
// and sum of squared deviations, for each channel, with those of the pixels
// before (Chan's parallel variance). So the deviations are centred without a
// pass of its own for the mean. Then the channels of a group are merged, and
// the second pass normalizes.
//
// Where images and channels make few tasks for threads there are two kernels: a
// task of the first computes the statistics of a part of the pixels, and one of
// the second merges those of all parts and normalizes a part.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Normalization/GroupNormalization.h"
#include "Kernels/Epilogue.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/Normalization/RowMean.h"

using namespace glowish;
using llvm::Value;

/// Half precisions are computed in float.
static ElemKind getComputeKind(ElemKind kind) {
  return kind == ElemKind::Double ? kind : ElemKind::Float;
}

/// The most channels of a task, of which two numbers each are on the stack.
static int64_t getMaxChannels(ElemKind kind, const TargetDescription &target) {
  return target.maxStackBytes / 4 / getElemSize(getComputeKind(kind));
}

bool glowish::fitsGroupNormalization(int64_t groupChannels, ElemKind kind,
                                     const TargetDescription &target) {
  return groupChannels <= getMaxChannels(kind, target.getSumTarget());
}

unsigned glowish::getPartDimension(DimsRef shape) {
  unsigned longest = 1;
  for (unsigned d = 2; d + 1 < shape.size(); ++d)
    if (shape[d] > shape[longest])
      longest = d;
  return longest;
}

namespace {

/// The operands of the kernel. Kernels that only compute statistics have no
/// result.
struct GroupOperands {
  Type type;
  int64_t groups = 1;
  double epsilon = 0;
  StridedOperand result, input;
  Value *scale = nullptr, *bias = nullptr;
  EpilogueCode epilogue = {};
  /// How many images are needed; null for all.
  Value *neededImages = nullptr;
};

class GroupNormalizationEmitter : private GroupOperands {
public:
  GroupNormalizationEmitter(KernelBuilder &b, GroupOperands operands)
      : GroupOperands(std::move(operands)), b(b), kind(type.getKind()),
        computeKind(getComputeKind(kind)), lanes(b.getRegisterLanes(kind)),
        images(type.getDim(0)), channels(type.getShape().back()),
        groupChannels(channels / groups),
        numPixels(type.getNumElements() / images / channels),
        taskChannels(channels), image(b.index(0)), firstChannel(b.index(0)) {}

  void emit();
  /// The two steps; \p statistics are those of \p parts parts.
  void emitStatistics(Value *statistics, int64_t parts);
  void emitParts(Value *statistics, int64_t parts);

private:
  /// Pixels side by side: the indices of the first in the dimensions between
  /// the image and the channels, how many come before it, and how many they
  /// are.
  struct Pixels {
    Values first;
    Value *before;
    unsigned count;
  };
  using PixelsBody = llvm::function_ref<void(const Pixels &)>;
  using PartBody = llvm::function_ref<void(GroupNormalizationEmitter &)>;

  std::vector<StridedOperand *> getOperands();
  void forImages(int64_t perImage, int64_t operations,
                 llvm::function_ref<void(Value *)> body);
  void collapsePixels();
  void chooseTaskChannels();
  void forPixels(PixelsBody body);
  void nestPixels(Pixels pixels, PixelsBody body);
  void forPart(Value *part, int64_t parts, PartBody body);
  void takePart(Value *part, int64_t distance, int64_t extent);
  Values getIndex(const Pixels &pixels, Value *pixel, Value *channel);
  Value *getStatistic(Value *base, Value *channel) {
    return b.getElement(base, computeKind, channel);
  }
  Value *loadStatistic(Value *base, Value *channel, unsigned active) {
    return b.load(computeKind, getStatistic(base, channel), active);
  }
  /// How numbers of pixels are joined with those before.
  struct Weights {
    Value *share;  // of all, those that are added
    Value *spread; // that, times the number of those before
  };
  Weights weigh(Value *before, int64_t count);
  Value *sum(Values values);
  void clear();
  void addPixels(const Pixels &pixels);
  void addPixels(const Pixels &pixels, Value *channel, unsigned active,
                 const Weights &weights);
  void add(Value *channel, unsigned active, Value *mean, Value *distances,
           const Weights &weights);
  Value *getPartStatistics(Value *statistics, Value *part, int64_t parts);
  void addParts(Value *statistics, int64_t parts);
  void joinGroup(Value *first);
  void finishStatistics();
  void storeFactor(Value *variance, Value *channel, unsigned active);
  void normalize(const Pixels &pixels);

  KernelBuilder &b;
  /// Of the elements, and of what is computed.
  ElemKind kind, computeKind;
  unsigned lanes;
  /// Pixels of an image, all parts together.
  int64_t images, channels, groupChannels, numPixels;
  /// The extents between the image and the channels, as few as possible.
  Dims spatial;
  int64_t taskChannels;
  /// Of each channel of the task: the mean, and squared distances from it that
  /// are summed, later the factor 1 / deviation * scale.
  Value *means = nullptr, *squares = nullptr;
  /// The image and the first channel of the task.
  Value *image, *firstChannel;
};

} // namespace

std::vector<StridedOperand *> GroupNormalizationEmitter::getOperands() {
  std::vector<StridedOperand *> operands = {&input};
  if (result.base)
    operands.push_back(&result);
  for (StridedOperand &fused : epilogue.fused)
    operands.push_back(&fused);
  return operands;
}

/// Makes as few dimensions as possible of those between image and channels.
void GroupNormalizationEmitter::collapsePixels() {
  std::vector<StridedOperand *> operands = getOperands();
  std::vector<Dims> strides;
  for (StridedOperand *operand : operands) {
    strides.push_back(operand->strides);
    operand->strides = Dims(DimsRef(strides.back()).drop_front().drop_back());
  }
  spatial =
      joinDimensions(b, type.getShape().drop_front().drop_back(), operands);
  for (auto [operand, own] : llvm::zip_equal(operands, strides)) {
    operand->strides.insert(operand->strides.begin(), own.front());
    operand->strides.push_back(own.back());
  }
}

/// Whole groups, and parts of equal size. Many, so that a pixel's memory is
/// read in order; but for threads there must be tasks enough.
void GroupNormalizationEmitter::chooseTaskChannels() {
  int64_t threads = b.getTarget().numThreads;
  int64_t wantedTasks = threads > 1 ? 4 * threads : 1;
  int64_t most = getMaxChannels(kind, b.getTarget());
  // The worst first: vectors that are not full, too few tasks, small parts.
  auto rank = [&](int64_t part) {
    bool isFull = part % lanes == 0 || part == channels;
    int64_t tasks = images * (channels / part);
    return std::tuple(isFull, std::min(tasks, wantedTasks), part);
  };
  taskChannels = groupChannels;
  for (int64_t part = groupChannels; part <= std::min(channels, most);
       part += groupChannels)
    if (channels % part == 0 && rank(part) > rank(taskChannels))
      taskChannels = part;
}

//===- Pixels -------------------------------------------------------------===//

/// Goes through those of the image or part, so many at once as half of the
/// registers hold, those of the target for sums.
void GroupNormalizationEmitter::forPixels(PixelsBody body) {
  nestPixels({{}, b.index(0), 0}, body);
}

void GroupNormalizationEmitter::nestPixels(Pixels pixels, PixelsBody body) {
  size_t dim = pixels.first.size();
  auto inner = [&](Value *i, unsigned count) {
    Pixels next = pixels;
    next.first.push_back(i);
    next.before = b.CreateNSWAdd(b.scaleIndex(next.before, spatial[dim]), i);
    next.count = count;
    return next;
  };
  if (dim + 1 < spatial.size())
    return b.forLoop(spatial[dim],
                     [&](Value *i) { nestPixels(inner(i, 0), body); });
  unsigned registers = b.getTarget().getSumTarget().numVectorRegisters;
  b.forVectors(spatial[dim], std::min(16u, registers / 2),
               [&](Value *i, unsigned count) { body(inner(i, count)); });
}

/// The body for the longest dimension's \p part of \p parts.
void GroupNormalizationEmitter::forPart(Value *part, int64_t parts,
                                        PartBody body) {
  int64_t rows = type.getDim(getPartDimension(type.getShape()));
  int64_t distance = llvm::divideCeil(rows, parts);
  int64_t last = rows - (parts - 1) * distance;
  auto emitPart = [&](int64_t extent) {
    GroupNormalizationEmitter own = *this;
    own.takePart(part, distance, extent);
    body(own);
  };
  if (last == distance)
    return emitPart(distance);
  Value *isLast = b.CreateICmpEQ(part, b.index(parts - 1));
  b.ifThen(b.CreateNot(isLast), [&] { emitPart(distance); });
  b.ifThen(isLast, [&] { emitPart(last); });
}

/// Has only \p extent rows from \p part * \p distance on.
void GroupNormalizationEmitter::takePart(Value *part, int64_t distance,
                                         int64_t extent) {
  unsigned dim = getPartDimension(type.getShape());
  for (StridedOperand *operand : getOperands())
    operand->base = b.getElement(operand->base, operand->kind, part,
                                 distance * operand->strides[dim]);
  Dims shape(type.getShape());
  shape[dim] = extent;
  type = type.withShape(shape);
  collapsePixels();
}

/// That of element \p channel of the task in the pixel that is \p pixel after
/// the first.
Values GroupNormalizationEmitter::getIndex(const Pixels &pixels, Value *pixel,
                                           Value *channel) {
  Values index = {image};
  index.append(pixels.first);
  index.back() = b.CreateNSWAdd(index.back(), pixel);
  index.push_back(b.CreateNSWAdd(firstChannel, channel));
  return index;
}

//===- Statistics ---------------------------------------------------------===//

/// Neighbours first: short chains, and small errors.
Value *GroupNormalizationEmitter::sum(Values values) {
  while (values.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(b.CreateFAdd(values[i], values[i + 1]));
    if (values.size() % 2)
      next.push_back(values.back());
    values = next;
  }
  return values[0];
}

void GroupNormalizationEmitter::clear() {
  b.forVectors(taskChannels, lanes, [&](Value *channel, unsigned active) {
    for (Value *base : {means, squares})
      b.store(computeKind, b.literal(computeKind, 0, active),
              getStatistic(base, channel));
  });
}

GroupNormalizationEmitter::Weights
GroupNormalizationEmitter::weigh(Value *before, int64_t count) {
  Value *added = b.literal(computeKind, double(count), 1);
  before = b.CreateSIToFP(before, b.getComputeTy(computeKind));
  Value *share = b.CreateFDiv(added, b.CreateFAdd(before, added));
  return {share, b.CreateFMul(before, share)};
}

/// Joins \p mean and squared \p distances with those before.
void GroupNormalizationEmitter::add(Value *channel, unsigned active,
                                    Value *mean, Value *distances,
                                    const Weights &weights) {
  Value *meanBefore = loadStatistic(means, channel, active);
  Value *squaresBefore = loadStatistic(squares, channel, active);
  Value *distance = b.CreateFSub(mean, meanBefore);
  b.store(computeKind,
          b.multiplyAdd(distance, b.splat(weights.share, active), meanBefore),
          getStatistic(means, channel));
  b.store(computeKind,
          b.multiplyAdd(b.CreateFMul(distance, distance),
                        b.splat(weights.spread, active),
                        b.CreateFAdd(squaresBefore, distances)),
          getStatistic(squares, channel));
}

void GroupNormalizationEmitter::addPixels(const Pixels &pixels) {
  Weights weights = weigh(pixels.before, pixels.count);
  b.forVectors(taskChannels, lanes, [&](Value *channel, unsigned active) {
    addPixels(pixels, channel, active, weights);
  });
}

void GroupNormalizationEmitter::addPixels(const Pixels &pixels, Value *channel,
                                          unsigned active,
                                          const Weights &weights) {
  Value *first = input.getAddress(b, getIndex(pixels, b.index(0), channel));
  int64_t pixelStride = input.strides[input.strides.size() - 2];
  Values x;
  // The processor does not foresee the order of the lines.
  for (unsigned i = 0; i < pixels.count && pixels.count > 1; ++i)
    // Not in bounds at the end.
    b.prefetch(b.CreateGEP(b.getStorageTy(kind), first,
                           b.index((pixels.count + i) * pixelStride)));
  for (unsigned i = 0; i < pixels.count; ++i)
    x.push_back(b.loadStrided(kind, b.getElement(first, kind, i * pixelStride),
                              active, input.getInnerStride()));
  Value *mean =
      b.CreateFDiv(sum(x), b.literal(computeKind, pixels.count, active));
  constexpr unsigned numSums = 4;
  Values sums;
  for (unsigned i = 0; i < pixels.count; ++i) {
    Value *centered = b.CreateFSub(x[i], mean);
    if (i < numSums)
      sums.push_back(b.CreateFMul(centered, centered));
    else
      sums[i % numSums] = b.multiplyAdd(centered, centered, sums[i % numSums]);
  }
  add(channel, active, mean, sum(sums), weights);
}

/// Where the means of \p part are; the squares follow them.
Value *GroupNormalizationEmitter::getPartStatistics(Value *statistics,
                                                    Value *part,
                                                    int64_t parts) {
  Value *number = b.CreateNSWAdd(b.scaleIndex(image, parts), part);
  return b.getElement(statistics, computeKind, number, 2 * channels);
}

void GroupNormalizationEmitter::addParts(Value *statistics, int64_t parts) {
  int64_t rows = type.getDim(getPartDimension(type.getShape()));
  int64_t distance = llvm::divideCeil(rows, parts);
  int64_t partPixels = numPixels / rows * distance;
  auto addPart = [&](Value *part, int64_t count) {
    Weights weights = weigh(b.scaleIndex(part, partPixels), count);
    Value *partMeans = getPartStatistics(statistics, part, parts);
    Value *partSquares = b.getElement(partMeans, computeKind, channels);
    b.forVectors(channels, lanes, [&](Value *channel, unsigned active) {
      add(channel, active, loadStatistic(partMeans, channel, active),
          loadStatistic(partSquares, channel, active), weights);
    });
  };
  b.forLoop(parts - 1, [&](Value *part) { addPart(part, partPixels); });
  addPart(b.index(parts - 1), numPixels - (parts - 1) * partPixels);
}

/// Takes the place of the squares.
void GroupNormalizationEmitter::storeFactor(Value *variance, Value *channel,
                                            unsigned active) {
  Value *deviation = vectormath::sqrt(
      b, b.CreateFAdd(variance,
                      b.literal(computeKind, epsilon, b.getLanes(variance))));
  Value *factor =
      b.CreateFDiv(b.literal(computeKind, 1, b.getLanes(variance)), deviation);
  if (b.getLanes(factor) != active)
    factor = b.splat(factor, active);
  if (scale) {
    Value *index = b.CreateNSWAdd(firstChannel, channel);
    factor = b.CreateFMul(factor, b.loadElement(kind, scale, index, active));
  }
  b.store(computeKind, factor, getStatistic(squares, channel));
}

/// Gives the channels of the group from \p first on its mean and variance.
void GroupNormalizationEmitter::joinGroup(Value *first) {
  auto load = [&](Value *base, Value *i, unsigned active) {
    return loadStatistic(base, b.CreateNSWAdd(first, i), active);
  };
  Value *mean = emitRowMean(
      b, computeKind, groupChannels,
      [&](Value *i, unsigned active) { return load(means, i, active); });
  Value *variance = emitRowMean(
      b, computeKind, groupChannels, [&](Value *i, unsigned active) {
        Value *distance =
            b.CreateFSub(load(means, i, active), b.splat(mean, active));
        Value *own =
            b.CreateFDiv(load(squares, i, active),
                         b.literal(computeKind, double(numPixels), active));
        return b.multiplyAdd(distance, distance, own);
      });
  b.forVectors(groupChannels, lanes, [&](Value *i, unsigned active) {
    Value *channel = b.CreateNSWAdd(first, i);
    b.store(computeKind, b.splat(mean, active), getStatistic(means, channel));
    storeFactor(variance, channel, active);
  });
}

void GroupNormalizationEmitter::finishStatistics() {
  if (groupChannels > 1)
    return b.forLoop(b.index(0), b.index(taskChannels), groupChannels,
                     [&](Value *first) { joinGroup(first); });
  b.forVectors(taskChannels, lanes, [&](Value *channel, unsigned active) {
    Value *variance =
        b.CreateFDiv(loadStatistic(squares, channel, active),
                     b.literal(computeKind, double(numPixels), active));
    storeFactor(variance, channel, active);
  });
}

//===- Results ------------------------------------------------------------===//

/// In the order of the memory.
void GroupNormalizationEmitter::normalize(const Pixels &pixels) {
  auto emitVector = [&](Value *pixel, Value *channel, unsigned active) {
    Values index = getIndex(pixels, pixel, channel);
    Value *x = b.loadStrided(kind, input.getAddress(b, index), active,
                             input.getInnerStride());
    Value *centered = b.CreateFSub(x, loadStatistic(means, channel, active));
    Value *factor = loadStatistic(squares, channel, active);
    Value *y = nullptr;
    if (bias)
      y = b.multiplyAdd(centered, factor,
                        b.loadElement(kind, bias, index.back(), active));
    else
      y = b.CreateFMul(centered, factor);
    storeResult(b, result, epilogue, index, y, active);
  };
  b.forLoop(pixels.count, [&](Value *pixel) {
    b.forVectors(taskChannels, lanes, [&](Value *channel, unsigned active) {
      emitVector(pixel, channel, active);
    });
  });
}

//===- Kernels ------------------------------------------------------------===//

/// Emits \p body for the number of each of \p perImage tasks of an image.
void GroupNormalizationEmitter::forImages(
    int64_t perImage, int64_t operations,
    llvm::function_ref<void(Value *)> body) {
  LoopExtents tasks({images, perImage});
  tasks.needed[0] = neededImages;
  b.forTasks(tasks, operations, [&](Value *task) {
    Values indices = b.splitIndex(task, tasks.shape);
    image = indices[0];
    body(indices[1]);
  });
}

void GroupNormalizationEmitter::emit() {
  collapsePixels();
  chooseTaskChannels();
  means = b.allocate(computeKind, taskChannels);
  squares = b.allocate(computeKind, taskChannels);
  forImages(channels / taskChannels, 8 * type.getNumElements(),
            [&](Value *part) {
              firstChannel = b.scaleIndex(part, taskChannels);
              clear();
              forPixels([&](const Pixels &pixels) { addPixels(pixels); });
              finishStatistics();
              forPixels([&](const Pixels &pixels) { normalize(pixels); });
            });
}

void GroupNormalizationEmitter::emitStatistics(Value *statistics,
                                               int64_t parts) {
  forImages(parts, 4 * type.getNumElements(), [&](Value *number) {
    means = getPartStatistics(statistics, number, parts);
    squares = b.getElement(means, computeKind, channels);
    clear();
    forPart(number, parts, [](GroupNormalizationEmitter &part) {
      part.forPixels([&](const Pixels &pixels) { part.addPixels(pixels); });
    });
  });
}

void GroupNormalizationEmitter::emitParts(Value *statistics, int64_t parts) {
  means = b.allocate(computeKind, taskChannels);
  squares = b.allocate(computeKind, taskChannels);
  forImages(parts, 4 * type.getNumElements(), [&](Value *number) {
    clear();
    addParts(statistics, parts);
    finishStatistics();
    forPart(number, parts, [](GroupNormalizationEmitter &part) {
      part.forPixels([&](const Pixels &pixels) { part.normalize(pixels); });
    });
  });
}

/// The operands that both instructions with a normalization share.
template <typename InstrT>
static GroupOperands getGroupOperands(const InstrT &instr,
                                      const KernelOperands &operands) {
  return {instr.getInput()->getType(),
          instr.getGroups(),
          instr.getEpsilon(),
          operands.getStrided(InstrT::resultIdx),
          operands.getStrided(InstrT::inputIdx),
          operands.getPointer(InstrT::scaleIdx),
          operands.getPointer(InstrT::biasIdx),
          operands.getEpilogue(instr.getInput()->getType().getKind()),
          operands.getBound(InstrT::resultIdx, 0)};
}

void glowish::emitGroupNormalization(KernelBuilder &b,
                                     const GroupNormalizationInstr &instr,
                                     const KernelOperands &operands) {
  GroupNormalizationEmitter(b, getGroupOperands(instr, operands)).emit();
}

void glowish::emitCPUGroupStatistics(KernelBuilder &b,
                                     const CPUGroupStatisticsInstr &instr,
                                     const KernelOperands &operands) {
  GroupOperands group;
  group.type = instr.getInput()->getType();
  group.input = operands.getStrided(CPUGroupStatisticsInstr::inputIdx);
  group.neededImages = operands.getBound(CPUGroupStatisticsInstr::resultIdx, 0);
  GroupNormalizationEmitter(b, std::move(group))
      .emitStatistics(operands.getPointer(CPUGroupStatisticsInstr::resultIdx),
                      instr.getResult()->getType().getDim(1));
}

void glowish::emitCPUGroupNormalization(KernelBuilder &b,
                                        const CPUGroupNormalizationInstr &instr,
                                        const KernelOperands &operands) {
  GroupNormalizationEmitter(b, getGroupOperands(instr, operands))
      .emitParts(operands.getPointer(CPUGroupNormalizationInstr::statisticsIdx),
                 instr.getStatistics()->getType().getDim(1));
}
