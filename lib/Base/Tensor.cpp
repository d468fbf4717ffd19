//===- Tensor.cpp - Typed n-dimensional arrays ----------------------------===//

#include "glowish/Base/Tensor.h"
#include "glowish/Base/TensorSource.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemAlloc.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace glowish;

static constexpr size_t hugePageBytes = 2 << 20;

struct Tensor::Deferred {
  std::shared_ptr<const TensorSource> source;
  std::once_flag once;
  Tensor made;
};

Tensor::Tensor() = default;
Tensor::Tensor(Tensor &&) noexcept = default;
Tensor &Tensor::operator=(Tensor &&) noexcept = default;
Tensor::~Tensor() = default;

void Tensor::FreeDeleter::operator()(void *memory) const { std::free(memory); }

Tensor::Tensor(const Type &type) : type(type.withoutExtents()) {
  size_t size = llvm::alignTo(type.getSizeInBytes(), alignment);
  // For large tensors calloc maps zero pages without touching them, so that a
  // tensor that is overwritten at once is not cleared first. calloc does not
  // align; aligned_alloc does not clear.
  if (size >= (1u << 20)) {
    size_t boundary = size >= 2 * hugePageBytes ? hugePageBytes : alignment;
    void *memory = std::calloc(size + boundary, 1);
    if (!memory)
      llvm::report_bad_alloc_error("out of memory for a tensor");
    owned.reset(memory);
    bytes = static_cast<char *>(memory) +
            llvm::offsetToAlignedAddr(memory, llvm::Align(boundary));
#ifdef __linux__
    // Huge pages cause fewer page faults and TLB misses.
    if (boundary == hugePageBytes)
      madvise(bytes, size / hugePageBytes * hugePageBytes, MADV_HUGEPAGE);
#endif
    return;
  }
  void *memory = std::aligned_alloc(alignment, size ? size : alignment);
  if (!memory)
    llvm::report_bad_alloc_error("out of memory for a tensor");
  std::memset(memory, 0, size);
  owned.reset(memory);
  bytes = memory;
}

Tensor Tensor::borrow(const Type &type, void *data) {
  Tensor tensor;
  tensor.type = type.withoutExtents();
  tensor.bytes = data;
  return tensor;
}

Tensor Tensor::clone() const {
  Tensor copy(type);
  writeTo(static_cast<uint8_t *>(copy.bytes));
  return copy;
}

static bool isAligned(const void *data, ElemKind kind) {
  return reinterpret_cast<uintptr_t>(data) % getElemSize(kind) == 0;
}

Tensor Tensor::borrowOrMake() const {
  auto found = findBytes();
  return found && isAligned(found->data(), type.getKind())
             ? borrow(type, const_cast<uint8_t *>(found->data()))
             : clone();
}

Tensor Tensor::copyOrDefer() const {
  return deferred ? defer(type, deferred->source) : clone();
}

Tensor Tensor::withType(const Type &newType) && {
  assert(newType.getSizeInBytes() == getSizeInBytes());
  if (deferred)
    if (auto source = deferred->source->retype(type, newType))
      return defer(newType, std::move(source));
  getBytes();
  type = newType;
  return std::move(*this);
}

double Tensor::getAsDouble(int64_t index) const {
  return dispatchElemKind(type.getKind(), [&](auto zero) {
    return double(data<decltype(zero)>()[index]);
  });
}

/// Converts \p value to an integer: truncated, saturated, NaN as 0. A plain
/// cast has undefined behaviour out of range.
template <typename T> static T saturate(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value))
    return 0;
  if (value <= double(Limits::lowest()))
    return Limits::lowest();
  // 2^digits is one more than the largest value, and exact as a double.
  if (value >= std::ldexp(1.0, Limits::digits))
    return Limits::max();
  return T(value);
}

int64_t Tensor::getAsInt(int64_t index) const {
  return dispatchElemKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return int64_t(data<T>()[index]);
    else
      return saturate<int64_t>(double(data<T>()[index]));
  });
}

void Tensor::setFromDouble(int64_t index, double value) {
  dispatchElemKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>)
      data<T>()[index] = value != 0;
    else if constexpr (std::is_integral_v<T>)
      data<T>()[index] = saturate<T>(value);
    else if constexpr (isLowInt<T>)
      data<T>()[index] = T(
          std::clamp<int64_t>(saturate<int64_t>(value), T::lowest, T::highest));
    else
      data<T>()[index] = T(value);
  });
}

bool Tensor::isBitwiseEqual(const Tensor &other) const {
  if (type != other.type)
    return false;
  size_t size = size_t(getSizeInBytes());
  if (size == 0)
    return true;
  auto own = findBytes(), others = other.findBytes();
  if (!own && !others)
    if (const TensorSource &source = *getSource();
        source.dynamicClassID() == other.getSource()->dynamicClassID() &&
        source.isEqual(*other.getSource()))
      return true;
  // Other sources may make the same elements.
  const Tensor made = own ? Tensor() : clone();
  const Tensor othersMade = others ? Tensor() : other.clone();
  return std::memcmp(own ? own->data() : made.bytes,
                     others ? others->data() : othersMade.bytes, size) == 0;
}

//===- Elements that are made when they are asked for ---------------------===//

Tensor Tensor::defer(const Type &type,
                     std::shared_ptr<const TensorSource> source) {
  Tensor tensor;
  tensor.type = type;
  tensor.deferred = std::make_unique<Deferred>();
  tensor.deferred->source = std::move(source);
  return tensor;
}

const TensorSource *Tensor::getSource() const {
  return deferred ? deferred->source.get() : nullptr;
}

const void *Tensor::makeBytes() const {
  std::call_once(deferred->once, [&] {
    auto found = deferred->source->findBytes(type);
    if (found && isAligned(found->data(), type.getKind())) {
      deferred->made = borrow(type, const_cast<uint8_t *>(found->data()));
      return;
    }
    Tensor made(type);
    writeTo(static_cast<uint8_t *>(made.bytes));
    deferred->made = std::move(made);
  });
  return deferred->made.bytes;
}

void Tensor::settle() {
  makeBytes();
  if (!deferred->made.owned)
    deferred->made = clone();
  owned = std::move(deferred->made.owned);
  bytes = deferred->made.bytes;
  deferred.reset();
}

std::optional<llvm::ArrayRef<uint8_t>> Tensor::findBytes() const {
  if (!deferred)
    return getByteRange();
  return deferred->source->findBytes(type);
}

void Tensor::writeTo(uint8_t *to) const {
  size_t size = size_t(getSizeInBytes());
  if (size == 0)
    return;
  if (deferred)
    deferred->source->write(type, to);
  else
    std::memcpy(to, bytes, size);
}

void Tensor::releasePages() const {
  if (deferred)
    deferred->source->releasePages();
}

uint64_t Tensor::getFingerprint() const {
  std::optional<llvm::ArrayRef<uint8_t>> found = findBytes();
  return found ? sampleBytes(*found) : deferred->source->getFingerprint();
}
