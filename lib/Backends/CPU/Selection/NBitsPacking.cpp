//===- NBitsPacking.cpp - Weights of 8 and 4 bits as kernels read them ----===//
//
// Files of language models have the weights of a column one after the other, as
// panels have them: units of them, a word or a byte, are copied. Weights in any
// other order are made a matrix of bytes first.
//
//===----------------------------------------------------------------------===//

#include "Selection/NBitsPacking.h"
#include "Selection/PackedConstant.h"
#include "glowish/Base/TensorSource.h"
#include <cstring>
#include <vector>

using namespace glowish;

namespace {

/// The beginnings of a matrix's columns, in each of which the elements lie one
/// after the other.
struct Columns {
  std::vector<const uint8_t *> first;
  bool invertsSign = false;
};

} // namespace

/// Adds the columns of \p matrix, elements of \p kind, to \p columns; false
/// where they are stored in another order.
static bool addColumns(const Tensor &matrix, ElemKind kind, Columns &columns) {
  auto *stored = llvm::dyn_cast_or_null<StoredElements>(matrix.getSource());
  if (!stored)
    return false;
  const StoredElements::Layout &layout = stored->getLayout();
  int64_t stride = layout.strides.back();
  if (layout.extents.size() != 2 || layout.kind != kind ||
      layout.strides[0] != getElemBits(kind) || stride % 8 != 0)
    return false;
  if (!columns.first.empty() && columns.invertsSign != layout.invertsSign)
    return false;
  columns.invertsSign = layout.invertsSign;
  for (int64_t n = 0; n < matrix.getType().getDim(1); ++n)
    columns.first.push_back(layout.stored.bytes.data() + n * stride / 8);
  return true;
}

static std::optional<Columns> findColumns(const Tensor &matrix) {
  Columns columns;
  ElemKind kind = matrix.getType().getKind();
  auto *joined = llvm::dyn_cast_or_null<JoinedColumns>(matrix.getSource());
  if (!joined)
    return addColumns(matrix, kind, columns) ? std::optional(columns)
                                             : std::nullopt;
  for (const auto &part : joined->getParts())
    if (!addColumns(*part, kind, columns))
      return std::nullopt;
  return columns;
}

/// Copies \p count units of type T of each column to its place in the panels;
/// \p change is applied to each, with its number.
template <typename T, typename Change>
static void copyUnits(const Columns &columns, int64_t count,
                      const NBitsLayout &layout, uint8_t *to, Change change) {
  // Few lines of the cache are in use: some units of a panel's columns.
  constexpr int64_t step = 16;
  for (int64_t panel = 0; panel < layout.getNumPanels(); ++panel) {
    int64_t column = panel * NBitsLayout::panelColumns;
    int64_t used = layout.getPanelColumns(panel);
    int64_t width = NBitsLayout::getPanelWidth(used);
    uint8_t *start =
        to + layout.getElement(column, 0, count) * int64_t(sizeof(T));
    for (int64_t first = 0; first < count; first += step)
      for (int64_t n = 0; n < used; ++n) {
        const uint8_t *from = columns.first[size_t(column + n)];
        for (int64_t unit = first; unit < std::min(count, first + step);
             ++unit) {
          T value;
          std::memcpy(&value, from + unit * int64_t(sizeof(T)), sizeof(T));
          value = change(value, unit);
          std::memcpy(start + (unit * width + n) * int64_t(sizeof(T)), &value,
                      sizeof(T));
        }
      }
  }
}

/// Moves the weights of \p word, eight of 4 bits, so that the first four are
/// the lower halves of its bytes.
static uint32_t interleaveHalves(uint32_t word) {
  uint32_t low = word & 0xffff, high = word >> 16;
  auto spread = [](uint32_t half) {
    half = (half | half << 8) & 0x00ff00ff;
    return (half | half << 4) & 0x0f0f0f0f;
  };
  return spread(low) | spread(high) << 4;
}

/// Packs weights that are stored column by column.
static void packColumns(const Columns &columns, const NBitsLayout &layout,
                        uint8_t *to) {
  if (!layout.hasWords()) {
    uint8_t flipped = columns.invertsSign ? 0x80 : 0;
    copyUnits<uint8_t>(
        columns, layout.depth, layout, to,
        [&](uint8_t weight, int64_t) { return uint8_t(weight ^ flipped); });
    return;
  }
  // Adding half of the range inverts the highest bit, too.
  bool inverts = columns.invertsSign != (layout.getBias() != 0);
  uint32_t flipped = layout.hasHalfBytes() ? 0x88888888 : 0x80808080;
  flipped = inverts ? flipped : 0;
  int64_t count = layout.getColumnBytes() / 4, rows = layout.getWordRows();
  int64_t left = layout.depth % rows;
  uint32_t last = left ? (uint32_t(1) << (32 / rows * left)) - 1 : ~uint32_t(0);
  bool interleaves = layout.hasHalfBytes() && layout.isForIntegers;
  copyUnits<uint32_t>(columns, count, layout, to,
                      [&](uint32_t word, int64_t unit) {
                        word ^= flipped;
                        if (unit == count - 1)
                          word &= last;
                        return interleaves ? interleaveHalves(word) : word;
                      });
}

/// Packs \p weights, one a byte, row by row.
static void packMatrix(const uint8_t *weights, const NBitsLayout &layout,
                       uint8_t *to) {
  int64_t all = layout.getColumnBytes();
  for (int64_t k = 0; k < layout.depth; ++k) {
    const uint8_t *from = weights + k * layout.columns;
    int64_t row = k % layout.block, first = k / layout.block;
    int64_t before = first * layout.getBlockBytes(layout.block);
    if (!layout.hasWords()) {
      for (int64_t n = 0; n < layout.columns; ++n)
        to[layout.getElement(n, before + row, all)] = from[n];
      continue;
    }
    int64_t word = before / 4 + row / layout.getWordRows();
    unsigned shift = layout.getShift(unsigned(row % layout.getWordRows()));
    int mask = layout.hasHalfBytes() ? 15 : 255;
    for (int64_t n = 0; n < layout.columns; ++n)
      to[layout.getElement(n, word, all / 4) * 4 + shift / 8] |=
          uint8_t(((from[n] + layout.getBias()) & mask) << shift % 8);
  }
}

/// Returns whether the words of the blocks follow each other in a column as
/// they do in the file.
static bool hasWholeWords(const NBitsLayout &layout) {
  return !layout.hasWords() || layout.getNumBlocks() == 1 ||
         layout.block % layout.getWordRows() == 0;
}

static void writeWeights(const Tensor &matrix, const NBitsLayout &layout,
                         uint8_t *to) {
  if (hasWholeWords(layout))
    if (std::optional<Columns> columns = findColumns(matrix))
      return packColumns(*columns, layout, to);
  const Tensor rows = matrix.borrowOrMake();
  packMatrix(static_cast<const uint8_t *>(rows.getBytes()), layout, to);
}

static void writeParameters(const Tensor &matrix, const NBitsLayout &layout,
                            uint8_t *to) {
  int64_t all = layout.getNumBlocks();
  bool isFloat = matrix.getType().getKind() == ElemKind::Float;
  if (isFloat)
    if (std::optional<Columns> columns = findColumns(matrix))
      return copyUnits<uint32_t>(*columns, all, layout, to,
                                 [](uint32_t scale, int64_t) { return scale; });
  const Tensor rows = matrix.borrowOrMake();
  const auto *from = static_cast<const uint8_t *>(rows.getBytes());
  int64_t size = isFloat ? 4 : 1;
  for (int64_t block = 0; block < all; ++block)
    for (int64_t n = 0; n < layout.columns; ++n)
      std::memcpy(to + layout.getElement(n, block, all) * size,
                  from + (block * layout.columns + n) * size, size_t(size));
}

Tensor glowish::packNBitsWeights(std::shared_ptr<const Tensor> weights,
                                 const NBitsLayout &layout) {
  return packLater(Type(ElemKind::Int8, {layout.getWeightBytes()}),
                   std::move(weights), "few-bits",
                   {layout.block, int64_t(layout.isForIntegers)},
                   [layout](const Tensor &matrix, uint8_t *to) {
                     writeWeights(matrix, layout, to);
                   });
}

Tensor glowish::packNBitsParameters(std::shared_ptr<const Tensor> parameters,
                                    const NBitsLayout &layout) {
  bool isFloat = parameters->getType().getKind() == ElemKind::Float;
  Type type(isFloat ? ElemKind::Float : ElemKind::Int8,
            {layout.getNumParameters()});
  // The matrix has a row for each block: nothing else of the layout counts.
  return packLater(type, std::move(parameters), "few-bits-parameters", {},
                   [layout](const Tensor &matrix, uint8_t *to) {
                     writeParameters(matrix, layout, to);
                   });
}
