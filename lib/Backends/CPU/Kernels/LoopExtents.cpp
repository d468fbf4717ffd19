//===- LoopExtents.cpp - Loops of which a run needs a part ----------------===//

#include "Kernels/KernelBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using llvm::Value;

LoopExtents LoopExtents::slice(size_t begin, size_t end) const {
  LoopExtents part(DimsRef(shape).slice(begin, end - begin));
  std::copy(needed.begin() + begin, needed.begin() + end, part.needed.begin());
  return part;
}

void KernelBuilder::forTasks(const LoopExtents &extents, int64_t operations,
                             LoopBody body) {
  // A loop of which all is needed is one with that around it.
  LoopExtents joined;
  for (auto [extent, needed] : llvm::zip_equal(extents.shape, extents.needed)) {
    if (needed || (joined.size() == 0 && extent != 1)) {
      joined.push_back(extent, needed);
      continue;
    }
    if (extent == 1)
      continue;
    joined.shape.back() *= extent;
    if (Value *&outer = joined.needed.back())
      outer = scaleIndex(outer, extent);
  }
  int64_t count = countElements(joined.shape);
  if (joined.size() <= 1)
    return forTasks(count, operations, body,
                    joined.size() ? joined.needed[0] : nullptr);
  for (size_t d = 0; d < joined.size(); ++d)
    if (!joined.needed[d])
      joined.needed[d] = index(joined.shape[d]);
  if (!areShared(count, operations))
    return nestLoops(joined, index(0), body);
  Value *numTasks = joined.needed[0];
  for (Value *needed : llvm::drop_begin(joined.needed))
    numTasks = CreateNSWMul(numTasks, needed);
  auto emitTask = [&](Value *task) {
    Value *number = index(0);
    int64_t stride = 1;
    for (size_t d = joined.size(); d-- > 0; stride *= joined.shape[d]) {
      Value *i = d ? CreateURem(task, joined.needed[d]) : task;
      number = addScaled(number, i, stride);
      if (d)
        task = CreateUDiv(task, joined.needed[d]);
    }
    body(number);
  };
  forTasks(count, operations, emitTask, numTasks);
}

/// Emits \p extents, all of which have a number of needed indices, as loops in
/// loop iteration \p number of those around them.
void KernelBuilder::nestLoops(const LoopExtents &extents, Value *number,
                              LoopBody body) {
  if (extents.size() == 0)
    return body(number);
  Value *first = scaleIndex(number, extents.shape[0]);
  forLoop(extents.needed[0], [&](Value *i) {
    nestLoops(extents.slice(1, extents.size()), addScaled(first, i, 1), body);
  });
}
