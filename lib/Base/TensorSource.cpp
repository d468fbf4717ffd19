//===- TensorSource.cpp - Elements that are made when asked for -----------===//

#include "glowish/Base/TensorSource.h"
#include "glowish/Support/Checksum.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include <cstring>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace glowish;

char TensorSource::ID = 0;
char StoredElements::ID = 0;
char JoinedColumns::ID = 0;

uint64_t glowish::sampleBytes(llvm::ArrayRef<uint8_t> bytes) {
  constexpr size_t block = 4096, blocks = 8;
  if (bytes.size() <= block * blocks)
    return checksum64(bytes);
  Checksum64 checksum;
  for (size_t i = 0; i < blocks; ++i)
    checksum.add(bytes.slice((bytes.size() - block) * i / (blocks - 1), block));
  return checksum.finish();
}

StoredBytes StoredBytes::of(std::shared_ptr<const llvm::MemoryBuffer> file,
                            size_t start, size_t size) {
  bool isMapped =
      file->getBufferKind() == llvm::MemoryBuffer::MemoryBuffer_MMap;
  llvm::ArrayRef<uint8_t> bytes =
      llvm::arrayRefFromStringRef(file->getBuffer().substr(start, size));
  return {bytes, std::move(file), isMapped};
}

StoredBytes StoredBytes::of(const std::shared_ptr<const Tensor> &tensor) {
  auto *source = llvm::dyn_cast_or_null<StoredElements>(tensor->getSource());
  if (source && source->findBytes(tensor->getType()))
    return source->getLayout().stored;
  return {tensor->getByteRange(), tensor};
}

//===- Elements in a file -------------------------------------------------===//

Tensor StoredElements::makeTensor(const Type &type, StoredBytes bytes) {
  Layout layout = {.stored = std::move(bytes),
                   .kind = type.getKind(),
                   .extents = Dims(type.getShape()),
                   .strides = getRowMajorStrides(type.getShape(),
                                                 getElemBits(type.getKind()))};
  return Tensor::defer(type,
                       std::make_shared<StoredElements>(std::move(layout)));
}

llvm::SmallVector<int64_t, 4> StoredElements::getRowMajorStrides(DimsRef shape,
                                                                 int64_t bits) {
  llvm::SmallVector<int64_t, 4> strides;
  for (int64_t stride : getDenseStrides(shape))
    strides.push_back(stride * bits);
  return strides;
}

namespace {

/// A stored element of \p T bytes.
template <typename T> struct WholeElement {
  bool invertsSign;
  T operator()(const uint8_t *bytes, int64_t bit) const {
    T element;
    std::memcpy(&element, bytes + bit / 8, sizeof(T));
    return invertsSign ? T(element ^ (T(1) << (8 * sizeof(T) - 1))) : element;
  }
};

/// A stored element of fewer than 8 bits; it becomes a byte, as tensors have
/// it.
struct PartOfByte {
  unsigned width;
  bool isSigned, invertsSign;
  uint8_t operator()(const uint8_t *bytes, int64_t bit) const {
    unsigned mask = (1u << width) - 1, top = 1u << (width - 1);
    unsigned value = (unsigned(bytes[bit / 8]) >> (bit % 8)) & mask;
    if (invertsSign)
      value ^= top;
    return uint8_t(isSigned && (value & top) ? value | ~mask : value);
  }
};

/// A float of half precision.
template <typename T> struct HalfFloat {
  float operator()(const uint8_t *bytes, int64_t bit) const {
    T element;
    std::memcpy(&element, bytes + bit / 8, sizeof(T));
    return float(double(element));
  }
};

/// Reads elements and writes them in row-major order.
template <typename Read> struct Writer {
  using Element = decltype(std::declval<Read>()(nullptr, 0));
  Read read;
  const uint8_t *from;
  DimsRef shape;
  llvm::ArrayRef<int64_t> strides;

  /// Writes the rows of a matrix in blocks, so that few cache lines are in use
  /// where its columns are stored one after the other.
  void writeMatrix(int64_t bit, int64_t rows, int64_t columns,
                   int64_t rowStride, int64_t columnStride, uint8_t *to) const {
    constexpr int64_t block = 64;
    for (int64_t firstRow = 0; firstRow < rows; firstRow += block)
      for (int64_t first = 0; first < columns; first += block) {
        int64_t lastRow = std::min(rows, firstRow + block);
        int64_t last = std::min(columns, first + block);
        for (int64_t row = firstRow; row < lastRow; ++row)
          for (int64_t column = first; column < last; ++column) {
            Element element =
                read(from, bit + row * rowStride + column * columnStride);
            std::memcpy(to + (row * columns + column) * sizeof(Element),
                        &element, sizeof(Element));
          }
      }
  }

  /// Writes all behind the first \p dim dimensions; returns the end.
  uint8_t *write(size_t dim, int64_t bit, uint8_t *to) const {
    size_t left = shape.size() - dim;
    if (left > 2) {
      for (int64_t i = 0; i < shape[dim]; ++i)
        to = write(dim + 1, bit + i * strides[dim], to);
      return to;
    }
    int64_t rows = left > 1 ? shape[dim] : 1;
    int64_t columns = left > 0 ? shape.back() : 1;
    writeMatrix(bit, rows, columns, left > 1 ? strides[dim] : 0,
                left > 0 ? strides.back() : 0, to);
    return to + rows * columns * int64_t(sizeof(Element));
  }
};

} // namespace

/// Returns whether integers of \p kind, of fewer than 8 bits, can be negative.
static bool hasSign(ElemKind kind) {
  return dispatchElemKind(kind, [](auto zero) {
    using T = decltype(zero);
    if constexpr (isLowInt<T>)
      return T::lowest < 0;
    else
      return false;
  });
}

void StoredElements::write(const Type &type, uint8_t *to) const {
  if (auto bytes = findBytes(type)) {
    std::memcpy(to, bytes->data(), bytes->size());
    return;
  }
  auto writeWith = [&](auto read) {
    Writer<decltype(read)>{read, layout.stored.bytes.data(), layout.extents,
                           layout.strides}
        .write(0, 0, to);
  };
  if (layout.kind == ElemKind::Float16 && type.getKind() == ElemKind::Float)
    return writeWith(HalfFloat<Float16>());
  if (layout.kind == ElemKind::BFloat16 && type.getKind() == ElemKind::Float)
    return writeWith(HalfFloat<BFloat16>());
  unsigned bits = getElemBits(layout.kind);
  assert(bits == getElemBits(type.getKind()));
  switch (bits) {
  case 8:
    return writeWith(WholeElement<uint8_t>{layout.invertsSign});
  case 16:
    return writeWith(WholeElement<uint16_t>{layout.invertsSign});
  case 32:
    return writeWith(WholeElement<uint32_t>{layout.invertsSign});
  case 64:
    return writeWith(WholeElement<uint64_t>{layout.invertsSign});
  default:
    return writeWith(
        PartOfByte{bits, hasSign(type.getKind()), layout.invertsSign});
  }
}

std::optional<llvm::ArrayRef<uint8_t>>
StoredElements::findBytes(const Type &type) const {
  unsigned bits = getElemBits(layout.kind);
  if (bits < 8 || layout.kind != type.getKind() || layout.invertsSign ||
      layout.stored.bytes.size() != size_t(type.getSizeInBytes()) ||
      layout.strides != getRowMajorStrides(layout.extents, bits))
    return std::nullopt;
  return layout.stored.bytes;
}

std::shared_ptr<const TensorSource>
StoredElements::retype(const Type &from, const Type &to) const {
  // Elements that are converted keep the kind that they are converted to.
  bool isConverted = getElemBits(layout.kind) != getElemBits(from.getKind());
  if (getElemBits(from.getKind()) != getElemBits(to.getKind()) ||
      (isConverted && from.getKind() != to.getKind()))
    return nullptr;
  Layout result = layout;
  if (layout.kind == from.getKind())
    result.kind = to.getKind();
  // So that any permutation of the dimensions is one of the extents.
  if (findBytes(from)) {
    result.extents = Dims(to.getShape());
    result.strides =
        getRowMajorStrides(to.getShape(), getElemBits(to.getKind()));
  }
  return std::make_shared<StoredElements>(std::move(result));
}

namespace {

/// The stored extents and strides that make up a dimension of a tensor.
struct Dimension {
  llvm::SmallVector<int64_t, 2> extents, strides;
};

} // namespace

/// Returns the dimensions of a tensor of \p shape with the elements of
/// \p layout, whose extents are parts of them, or have them as parts; none
/// where they overlap in another way.
static std::optional<std::vector<Dimension>>
splitDimensions(const StoredElements::Layout &layout, DimsRef shape) {
  std::vector<Dimension> dimensions;
  size_t next = 0;
  // What is left of the extent in front of `next`, and its stride.
  int64_t left = 1, stride = 0;
  for (int64_t extent : shape) {
    Dimension &dimension = dimensions.emplace_back();
    while (extent > 1) {
      while (left == 1 && next < layout.extents.size()) {
        left = layout.extents[next];
        stride = layout.strides[next++];
      }
      int64_t part = std::min(left, extent);
      if (part <= 1 || left % part != 0 || extent % part != 0)
        return std::nullopt;
      left /= part;
      extent /= part;
      dimension.extents.push_back(part);
      dimension.strides.push_back(stride * left);
    }
  }
  return dimensions;
}

std::shared_ptr<const StoredElements>
StoredElements::permute(DimsRef shape,
                        llvm::ArrayRef<int64_t> permutation) const {
  auto dimensions = splitDimensions(layout, shape);
  if (!dimensions)
    return nullptr;
  Layout result = layout;
  result.extents.clear();
  result.strides.clear();
  for (int64_t axis : permutation) {
    llvm::append_range(result.extents, (*dimensions)[size_t(axis)].extents);
    llvm::append_range(result.strides, (*dimensions)[size_t(axis)].strides);
  }
  return std::make_shared<StoredElements>(std::move(result));
}

bool StoredElements::isEqual(const TensorSource &other) const {
  const Layout &others = llvm::cast<StoredElements>(other).layout;
  llvm::ArrayRef<uint8_t> own = layout.stored.bytes;
  llvm::ArrayRef<uint8_t> bytes = others.stored.bytes;
  return layout.kind == others.kind && layout.extents == others.extents &&
         layout.strides == others.strides &&
         layout.invertsSign == others.invertsSign &&
         own.size() == bytes.size() &&
         (own.data() == bytes.data() || own == bytes);
}

uint64_t StoredElements::getFingerprint() const {
  return llvm::hash_combine(
      sampleBytes(layout.stored.bytes), unsigned(layout.kind),
      layout.invertsSign,
      llvm::hash_combine_range(layout.strides.begin(), layout.strides.end()));
}

void StoredElements::releasePages() const {
#ifdef __linux__
  llvm::ArrayRef<uint8_t> bytes = layout.stored.bytes;
  if (!layout.stored.isMapped)
    return;
  uintptr_t page = llvm::sys::Process::getPageSizeEstimate();
  auto start = reinterpret_cast<uintptr_t>(bytes.data());
  uintptr_t first = llvm::alignTo(start, page);
  uintptr_t last = (start + bytes.size()) / page * page;
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
#endif
}

//===- Matrices side by side ----------------------------------------------===//

void JoinedColumns::write(const Type &type, uint8_t *to) const {
  int64_t rowBytes = type.getSizeInBytes() / type.getDim(0);
  for (const auto &part : parts) {
    int64_t bytes = part->getSizeInBytes() / type.getDim(0);
    const Tensor own = part->borrowOrMake();
    const auto *from = static_cast<const uint8_t *>(own.getBytes());
    for (int64_t row = 0; row < type.getDim(0); ++row)
      std::memcpy(to + row * rowBytes, from + row * bytes, size_t(bytes));
    to += bytes;
  }
}

bool JoinedColumns::isEqual(const TensorSource &other) const {
  return llvm::equal(parts, llvm::cast<JoinedColumns>(other).parts,
                     [](const auto &own, const auto &others) {
                       return own == others || own->isBitwiseEqual(*others);
                     });
}

uint64_t JoinedColumns::getFingerprint() const {
  llvm::hash_code hash = llvm::hash_value(parts.size());
  for (const auto &part : parts)
    hash = llvm::hash_combine(hash, part->getFingerprint());
  return hash;
}

void JoinedColumns::releasePages() const {
  for (const auto &part : parts)
    part->releasePages();
}
