//===- SlicePacking.cpp - Packing of pixels as int8 slices ----------------===//

#include "Kernels/AMX/SlicePacking.h"

using namespace glowish;
using llvm::Value;

namespace {

class PanelEmitter {
public:
  PanelEmitter(KernelBuilder &b, const ConvolutionShape &shape,
               const SlicedBlocking &blocking, const SlicePanel &panel,
               const StridedOperand &input, const SliceRange &range)
      : b(b), shape(shape), blocking(blocking), image(blocking.image),
        panel(panel), input(input), range(range),
        isTransposed(isInputTransposed(shape, input.strides)) {}
  void emitScales();
  void emitSlices();
  void emitScalesAndSlices();

private:
  /// Pixels of the panel that come from one row of the input: \p count from
  /// \p pixel on, of sub-image \p phase, \p stride elements apart.
  struct Run {
    int64_t phase;
    Value *pixel, *count;
    Value *source;
    int64_t stride;
  };
  using RunBody = llvm::function_ref<void(const Run &)>;
  /// Pixels that are padding.
  using PaddingBody =
      llvm::function_ref<void(int64_t phase, Value *pixel, Value *count)>;

  void forRuns(RunBody body, PaddingBody padding);
  void forRunsOfRow(Value *row, RunBody body, PaddingBody padding);
  void forRunsOfColumns(Value *pixel, Value *source, int64_t phaseH,
                        int64_t phaseW, RunBody body, PaddingBody padding);

  Value *findLargest(Value *source);
  void storeScale(Value *index, Value *largest);
  void findScales(const Run &run);
  void clearScales(Value *pixel, Value *count);
  void forGroups(llvm::function_ref<void(Value *, int64_t)> body);
  Value *getAddress(Value *plane, Value *pixel);
  Value *getAddress(int64_t phase, Value *group, Value *pixel);
  Value *loadFactor(Value *pixel);
  void slicePixel(Value *source, Value *address, Value *factor,
                  int64_t channels);
  void store(Value *address, int64_t slice, Value *bytes);
  void clear(int64_t phase, Value *pixel, Value *count);
  void slice(const Run &run);
  void forTransposedPixels(const Run &run,
                           llvm::function_ref<void(Value *, SlicedRows)> body);
  void findTransposedScales(const Run &run);
  void sliceTransposed(const Run &run);
  void forTaps(Value *pixel, llvm::function_ref<void(Value *, Value *)> body,
               llvm::function_ref<void(Value *)> padding);
  void findGatheredScale(Value *pixel);
  void gather(Value *pixel);

  KernelBuilder &b;
  const ConvolutionShape &shape;
  const SlicedBlocking &blocking;
  const SlicedImage &image;
  const SlicePanel &panel;
  const StridedOperand &input;
  const SliceRange &range;
  bool isTransposed;
};

} // namespace

//===- Pixels -------------------------------------------------------------===//

/// Column j of phase p is column j * strideW + p - padLeft of the input.
/// \p source: the row of the input.
void PanelEmitter::forRunsOfColumns(Value *pixel, Value *source, int64_t phaseH,
                                    int64_t phaseW, RunBody body,
                                    PaddingBody padding) {
  int64_t phase = phaseH * image.phasesW + phaseW;
  int64_t s = shape.strideW, shift = phaseW - shape.padLeft;
  int64_t low = std::clamp((-shift + s - 1) / s, int64_t(0), image.columns);
  if (shift >= 0)
    low = 0;
  int64_t high =
      shape.width > shift
          ? std::clamp((shape.width - shift + s - 1) / s, low, image.columns)
          : low;
  Value *ofPhase = b.maxIndex(
      b.CreateNSWSub(range.endInputColumn, b.index(shift)), b.index(0));
  Value *end = b.maxIndex(b.index(low),
                          b.minIndex(b.divideUp(ofPhase, s), b.index(high)));
  Value *first = b.CreateNSWAdd(pixel, b.index(low));
  if (low > 0)
    padding(phase, pixel, b.index(low));
  if (high > low)
    body({phase, first, b.CreateNSWSub(end, b.index(low)),
          b.CreateGEP(b.getFloatTy(), source,
                      b.index((low * s + shift) * input.strides[2])),
          s * input.strides[2]});
  if (high < image.columns || !llvm::isa<llvm::Constant>(end))
    padding(phase, b.CreateNSWAdd(pixel, end),
            b.CreateNSWSub(b.index(image.columns), end));
}

/// \p row: numbered across all images where these are collapsed.
void PanelEmitter::forRunsOfRow(Value *row, RunBody body, PaddingBody padding) {
  Value *batch = range.image, *inImage = row;
  if (blocking.isCollapsed && image.batch > 1) {
    batch = b.CreateUDiv(row, b.index(image.rows));
    inImage = b.CreateURem(row, b.index(image.rows));
  }
  Value *pixel =
      b.CreateNSWSub(b.scaleIndex(row, image.columns), range.firstPixel);
  for (int64_t ph = 0; ph < image.phasesH; ++ph) {
    Value *y = b.CreateNSWAdd(b.scaleIndex(inImage, shape.strideH),
                              b.index(ph - shape.padTop));
    Value *source =
        b.CreateGEP(b.getFloatTy(), input.base,
                    b.addScaled(b.scaleIndex(batch, input.strides[0]), y,
                                input.strides[1]));
    // Negative rows are large as unsigned numbers.
    Value *isInside = b.CreateICmpULT(y, range.endInputRow);
    b.ifThenElse(
        isInside,
        [&] {
          for (int64_t pw = 0; pw < image.phasesW; ++pw)
            forRunsOfColumns(pixel, source, ph, pw, body, padding);
        },
        [&] {
          for (int64_t pw = 0; pw < image.phasesW; ++pw)
            padding(ph * image.phasesW + pw, pixel, b.index(image.columns));
        });
  }
}

void PanelEmitter::forRuns(RunBody body, PaddingBody padding) {
  if (blocking.isInputCollapsed)
    return body({0, b.index(0), range.numPixels,
                 b.CreateGEP(b.getFloatTy(), input.base,
                             b.scaleIndex(range.firstPixel, input.strides[2])),
                 input.strides[2]});
  Value *first = b.CreateUDiv(range.firstPixel, b.index(image.columns));
  Value *end = b.minIndex(b.CreateNSWAdd(first, b.index(blocking.panelRows)),
                          range.endRow);
  b.forLoop(first, end, 1,
            [&](Value *row) { forRunsOfRow(row, body, padding); });
}

//===- Scales -------------------------------------------------------------===//

/// The bits of the largest magnitudes of the channels of a pixel, in 16 lanes.
Value *PanelEmitter::findLargest(Value *source) {
  return b.forGroups(
      shape.channels, matrixDepth, {getZeroRow(b)},
      [&](Value *group, int64_t channels, llvm::ArrayRef<Value *> carried) {
        Value *from = b.getElement(source, ElemKind::Float, group, matrixDepth);
        return Values{joinMagnitudes(b, carried[0],
                                     findLargestOfGroup(b, from, channels))};
      })[0];
}

/// Stores factor and scale for the bits of the \p largest magnitude.
void PanelEmitter::storeScale(Value *index, Value *largest) {
  auto [factor, scale] = getSliceScale(b, largest);
  b.storeElement(ElemKind::Float, factor, panel.factors, index);
  b.storeElement(ElemKind::Float, scale, panel.scales, index);
}

/// Sets the scales of padding to 0: uninitialized memory might hold a NaN, and
/// NaN times a sum of 0 is NaN.
void PanelEmitter::clearScales(Value *pixel, Value *count) {
  b.forLoop(count, [&](Value *i) {
    b.storeElement(ElemKind::Float, b.literal(ElemKind::Float, 0, 1),
                   panel.scales, b.CreateNSWAdd(pixel, i));
  });
}

/// Computes a scale for each pixel of the run.
void PanelEmitter::findScales(const Run &run) {
  if (isTransposed)
    return findTransposedScales(run);
  b.forLoop(run.count, [&](Value *i) {
    Value *source =
        b.CreateGEP(b.getFloatTy(), run.source, b.scaleIndex(i, run.stride));
    storeScale(b.CreateNSWAdd(run.pixel, i),
               reduceMagnitudes(b, findLargest(source)));
  });
}

void PanelEmitter::emitScales() {
  if (blocking.isGathered)
    return b.forLoop(range.numPixels,
                     [&](Value *pixel) { findGatheredScale(pixel); });
  if (blocking.isCollapsed)
    return forRuns([&](const Run &run) { findScales(run); },
                   [&](int64_t, Value *pixel, Value *count) {
                     clearScales(pixel, count);
                   });
  Value *cell = panel.factors;
  storeRow(b, getZeroRow(b), cell);
  forRuns(
      [&](const Run &run) {
        b.forLoop(run.count, [&](Value *i) {
          Value *largest = findLargest(b.CreateGEP(
              b.getFloatTy(), run.source, b.scaleIndex(i, run.stride)));
          storeRow(b, joinMagnitudes(b, loadRow(b, cell), largest), cell);
        });
      },
      [](int64_t, Value *, Value *) {});
  storeScale(b.index(0), reduceMagnitudes(b, loadRow(b, cell)));
}

//===- Slices -------------------------------------------------------------===//

/// Calls \p body for the channel groups of the range, with their numbers of
/// channels.
void PanelEmitter::forGroups(llvm::function_ref<void(Value *, int64_t)> body) {
  int64_t whole = shape.channels / matrixDepth;
  int64_t left = shape.channels % matrixDepth;
  b.forLoop(range.firstGroup, b.minIndex(range.endGroup, b.index(whole)), 1,
            [&](Value *group) { body(group, matrixDepth); });
  if (left)
    b.ifThen(b.CreateICmpEQ(range.endGroup, b.index(whole + 1)),
             [&] { body(b.index(whole), left); });
}

/// The address of a pixel in slice 0 of the panel.
Value *PanelEmitter::getAddress(Value *plane, Value *pixel) {
  return b.getElement(
      panel.slices, ElemKind::Int8,
      b.addScaled(b.scaleIndex(plane, blocking.panelPixels * matrixDepth),
                  pixel, matrixDepth));
}

Value *PanelEmitter::getAddress(int64_t phase, Value *group, Value *pixel) {
  Value *inPanel = b.CreateNSWSub(group, range.firstGroup);
  return getAddress(
      b.CreateNSWAdd(b.index(phase * blocking.groupsPerChunk), inPanel), pixel);
}

Value *PanelEmitter::loadFactor(Value *pixel) {
  return b.splat(b.loadElement(ElemKind::Float, panel.factors, pixel, 1),
                 matrixColumns);
}

/// Slices the \p channels of a group of a pixel from \p source to \p address.
void PanelEmitter::slicePixel(Value *source, Value *address, Value *factor,
                              int64_t channels) {
  for (auto [slice, bytes] : llvm::enumerate(
           sliceFloats(b, loadSliceGroup(b, source, channels), factor)))
    store(address, int64_t(slice), bytes);
}

void PanelEmitter::store(Value *address, int64_t slice, Value *bytes) {
  storeRow(
      b, bytes,
      b.getElement(address, ElemKind::Int8, slice * blocking.getSliceBytes()));
}

void PanelEmitter::clear(int64_t phase, Value *pixel, Value *count) {
  b.forLoop(range.firstGroup, range.endGroup, 1, [&](Value *group) {
    Value *first = getAddress(phase, group, pixel);
    b.forLoop(count, [&](Value *i) {
      for (int64_t slice = 0; slice < numSlices; ++slice)
        store(b.getElement(first, ElemKind::Int8, i, matrixDepth), slice,
              getZeroRow(b));
    });
  });
}

void PanelEmitter::slice(const Run &run) {
  if (isTransposed)
    return sliceTransposed(run);
  Value *shared = blocking.isCollapsed ? nullptr : loadFactor(b.index(0));
  forGroups([&](Value *group, int64_t channels) {
    Value *first = getAddress(run.phase, group, run.pixel);
    Value *from = b.CreateGEP(b.getFloatTy(), run.source,
                              b.scaleIndex(group, matrixDepth));
    b.forLoop(run.count, [&](Value *i) {
      Value *factor =
          shared ? shared : loadFactor(b.CreateNSWAdd(run.pixel, i));
      Value *source =
          b.CreateGEP(b.getFloatTy(), from, b.scaleIndex(i, run.stride));
      Value *address = b.getElement(first, ElemKind::Int8, i, matrixDepth);
      slicePixel(source, address, factor, channels);
    });
  });
}

void PanelEmitter::emitSlices() {
  if (blocking.isGathered)
    return b.forLoop(range.numPixels, [&](Value *pixel) { gather(pixel); });
  forRuns([&](const Run &run) { slice(run); },
          [&](int64_t phase, Value *pixel, Value *count) {
            clear(phase, pixel, count);
          });
}

//===- Transposed inputs --------------------------------------------------===//

/// Calls \p body for vectors of pixels, with the number of the first pixel in
/// the panel, and all channels.
void PanelEmitter::forTransposedPixels(
    const Run &run, llvm::function_ref<void(Value *, SlicedRows)> body) {
  unsigned left = unsigned(blocking.pixelsPerImage % matrixColumns);
  b.forLoop(b.index(0), run.count, matrixColumns, [&](Value *first) {
    SlicedRows rows = {b.CreateGEP(b.getFloatTy(), run.source, first),
                       shape.channels, input.strides[3],
                       unsigned(matrixColumns), 1};
    Value *pixel = b.CreateNSWAdd(run.pixel, first);
    if (!left)
      return body(pixel, rows);
    // Only the last task may end with a partial vector.
    Value *isWhole = b.CreateICmpSGE(b.CreateNSWSub(run.count, first),
                                     b.index(matrixColumns));
    SlicedRows last = rows;
    last.lanes = left;
    b.ifThenElse(
        isWhole, [&] { body(pixel, rows); }, [&] { body(pixel, last); });
  });
}

void PanelEmitter::findTransposedScales(const Run &run) {
  forTransposedPixels(run, [&](Value *pixel, SlicedRows rows) {
    Value *largest = b.forUnrolled(
        rows.channels, 4, {getZeroRow(b)},
        [&](Value *c, llvm::ArrayRef<Value *> carried) {
          Value *source = b.CreateGEP(b.getFloatTy(), rows.source,
                                      b.scaleIndex(c, rows.stride));
          Value *row =
              widenWithZeros(b, b.load(ElemKind::Float, source, rows.lanes));
          return Values{joinMagnitudes(b, carried[0], getMagnitudes(b, row))};
        })[0];
    storeScale(pixel, largest);
  });
}

void PanelEmitter::sliceTransposed(const Run &run) {
  forTransposedPixels(run, [&](Value *pixel, SlicedRows rows) {
    Value *factors = b.loadElement(ElemKind::Float, panel.factors, pixel,
                                   unsigned(matrixColumns));
    forGroups([&](Value *group, int64_t channels) {
      SlicedRows part = rows;
      part.channels = channels;
      part.source = b.CreateGEP(b.getFloatTy(), rows.source,
                                b.scaleIndex(group, matrixDepth * rows.stride));
      sliceRows(b, part, factors, [&](Value *row, int64_t slice, Value *bytes) {
        Value *square =
            b.getElement(panel.scratch, ElemKind::Int8, row, matrixDepth);
        storeRow(b, bytes,
                 b.getElement(square, ElemKind::Int8, slice * sliceStepBytes));
      });
      transposeSlices(b, panel.scratch, sliceStepBytes,
                      getAddress(run.phase, group, pixel),
                      blocking.getSliceBytes());
    });
  });
}

//===- Gathered inputs ----------------------------------------------------===//

/// Visits the taps of output pixel \p pixel of the panel: body(tap, channels of
/// the input pixel), or padding(tap) where it is outside the image.
void PanelEmitter::forTaps(Value *pixel,
                           llvm::function_ref<void(Value *, Value *)> body,
                           llvm::function_ref<void(Value *)> padding) {
  Values index = b.splitIndex(b.CreateNSWAdd(range.firstPixel, pixel),
                              {shape.batch, shape.outHeight, shape.outWidth});
  Value *top = b.CreateNSWSub(b.scaleIndex(index[1], shape.strideH),
                              b.index(shape.padTop));
  Value *left = b.CreateNSWSub(b.scaleIndex(index[2], shape.strideW),
                               b.index(shape.padLeft));
  Value *image = b.scaleIndex(index[0], input.strides[0]);
  b.forLoop(shape.kernelH, [&](Value *kh) {
    Value *y = b.addScaled(top, kh, shape.dilationH);
    b.forLoop(shape.kernelW, [&](Value *kw) {
      Value *x = b.addScaled(left, kw, shape.dilationW);
      Value *tap = b.addScaled(kw, kh, shape.kernelW);
      // Negative numbers are large as unsigned ones.
      Value *isInside = b.CreateAnd(b.CreateICmpULT(y, b.index(shape.height)),
                                    b.CreateICmpULT(x, b.index(shape.width)));
      auto visit = [&] {
        Value *offset = b.addScaled(b.addScaled(image, y, input.strides[1]), x,
                                    input.strides[2]);
        body(tap, b.CreateGEP(b.getFloatTy(), input.base, offset));
      };
      b.ifThenElse(isInside, visit, [&] { padding(tap); });
    });
  });
}

/// The scale of \p pixel for the channels under all taps.
void PanelEmitter::findGatheredScale(Value *pixel) {
  storeRow(b, getZeroRow(b), panel.scratch);
  forTaps(
      pixel,
      [&](Value *, Value *source) {
        Value *before = loadRow(b, panel.scratch);
        storeRow(b, joinMagnitudes(b, before, findLargest(source)),
                 panel.scratch);
      },
      [](Value *) {});
  storeScale(pixel, reduceMagnitudes(b, loadRow(b, panel.scratch)));
}

void PanelEmitter::gather(Value *pixel) {
  Value *factor = loadFactor(pixel);
  auto getPlace = [&](Value *group, Value *tap) {
    Value *inPanel = b.CreateNSWSub(group, range.firstGroup);
    return getAddress(b.addScaled(tap, inPanel, blocking.numTaps), pixel);
  };
  forTaps(
      pixel,
      [&](Value *tap, Value *source) {
        forGroups([&](Value *group, int64_t channels) {
          Value *from = b.CreateGEP(b.getFloatTy(), source,
                                    b.scaleIndex(group, matrixDepth));
          slicePixel(from, getPlace(group, tap), factor, channels);
        });
      },
      [&](Value *tap) {
        b.forLoop(range.firstGroup, range.endGroup, 1, [&](Value *group) {
          for (int64_t slice = 0; slice < numSlices; ++slice)
            store(getPlace(group, tap), slice, getZeroRow(b));
        });
      });
}

//===- Panels -------------------------------------------------------------===//

/// Some pixels at a time, so that they are in the L1 cache when they are read
/// again.
void PanelEmitter::emitScalesAndSlices() {
  if (blocking.isGathered)
    return b.forLoop(range.numPixels, [&](Value *pixel) {
      findGatheredScale(pixel);
      gather(pixel);
    });
  constexpr int64_t batch = 16;
  forRuns(
      [&](const Run &run) {
        b.forLoop(b.index(0), run.count, batch, [&](Value *first) {
          Run part = run;
          part.pixel = b.CreateNSWAdd(run.pixel, first);
          part.count =
              b.minIndex(b.index(batch), b.CreateNSWSub(run.count, first));
          part.source = b.CreateGEP(b.getFloatTy(), run.source,
                                    b.scaleIndex(first, run.stride));
          findScales(part);
          slice(part);
        });
      },
      [&](int64_t phase, Value *pixel, Value *count) {
        clearScales(pixel, count);
        clear(phase, pixel, count);
      });
}

void glowish::emitSlicePanel(KernelBuilder &b, const ConvolutionShape &shape,
                             const SlicedBlocking &blocking,
                             const SlicePanel &panel,
                             const StridedOperand &input,
                             const SliceRange &range, SliceStep step) {
  PanelEmitter emitter(b, shape, blocking, panel, input, range);
  if (step == SliceStep::Both && blocking.isCollapsed)
    return emitter.emitScalesAndSlices();
  if (step != SliceStep::Slices)
    emitter.emitScales();
  if (step != SliceStep::Scales)
    emitter.emitSlices();
}
