//===- Weights.cpp - The weights of a bundle ------------------------------===//

#include "Weights.h"
#include "glowish/Support/Checksum.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstring>
#include <optional>

using namespace glowish;

llvm::ArrayRef<uint8_t> glowish::getBytesInOrder(const Tensor &tensor,
                                                 llvm::endianness order,
                                                 std::vector<uint8_t> &buffer) {
  size_t elementSize = getElemSize(tensor.getType().getKind());
  bool isInOrder = order == llvm::endianness::native || elementSize == 1;
  std::optional<llvm::ArrayRef<uint8_t>> bytes = tensor.findBytes();
  if (bytes && isInOrder)
    return *bytes;
  buffer.resize(size_t(tensor.getSizeInBytes()));
  tensor.writeTo(buffer.data());
  if (isInOrder)
    return buffer;
  for (auto element = buffer.begin(); element != buffer.end();
       element += ptrdiff_t(elementSize))
    std::reverse(element, element + ptrdiff_t(elementSize));
  return buffer;
}

Weights::Weights(const Variants &variants, llvm::endianness order)
    : order(order), size(variants.getConstantSize()) {
  for (const Variant &variant : variants.programs)
    forEachFunction(*variant.function, [&](const IRFunction &function) {
      for (const auto &buffer : function.getBuffers())
        if (buffer->getKind() == Buffer::Kind::Constant &&
            buffer->getType().getSizeInBytes() != 0)
          places.try_emplace(variant.plan->getOffset(buffer.get()),
                             &buffer->getTensor());
    });
}

void Weights::visit(
    llvm::function_ref<void(llvm::ArrayRef<uint8_t>)> take) const {
  static constexpr std::array<uint8_t, 64> zeros = {};
  uint64_t end = 0;
  auto fillTo = [&](uint64_t begin) {
    while (end < begin) {
      uint64_t count = std::min<uint64_t>(begin - end, zeros.size());
      take(llvm::ArrayRef(zeros).take_front(count));
      end += count;
    }
  };
  std::vector<uint8_t> buffer;
  for (auto [offset, tensor] : places) {
    fillTo(offset);
    assert(end == offset && "constants don't overlap");
    llvm::ArrayRef<uint8_t> bytes = getBytesInOrder(*tensor, order, buffer);
    take(bytes);
    tensor->releasePages();
    end += bytes.size();
  }
  fillTo(size);
}

uint64_t Weights::getChecksum() const {
  if (!checksum)
    print(llvm::nulls());
  return *checksum;
}

void Weights::print(llvm::raw_ostream &os) const {
  Checksum64 sum;
  visit([&](llvm::ArrayRef<uint8_t> bytes) {
    sum.add(bytes);
    os << llvm::toStringRef(bytes);
  });
  checksum = sum.finish();
}

std::vector<uint8_t> Weights::getBytes() const {
  std::vector<uint8_t> all;
  all.reserve(size);
  visit([&](llvm::ArrayRef<uint8_t> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  });
  return all;
}

namespace {

/// Bytes, 20 a line.
class WeightsText {
public:
  explicit WeightsText(llvm::raw_ostream &os) : os(os) {
    for (unsigned i = 0; i < numbers.size(); ++i) {
      std::string text = std::to_string(i) + ',';
      numbers[i].length = text.size();
      llvm::copy(text, numbers[i].text.begin());
    }
  }
  ~WeightsText() {
    if (inLine)
      endLine();
  }

  void add(llvm::ArrayRef<uint8_t> bytes) {
    for (uint8_t byte : bytes) {
      std::memcpy(end, numbers[byte].text.data(), 4);
      end += numbers[byte].length;
      if (++inLine == perLine)
        endLine();
    }
  }

private:
  void endLine() {
    *end++ = '\n';
    os.write(line.data(), size_t(end - line.data()));
    end = line.data();
    inLine = 0;
  }

  static constexpr size_t perLine = 20;
  struct Number {
    std::array<char, 4> text;
    size_t length;
  };
  llvm::raw_ostream &os;
  std::array<Number, 256> numbers;
  std::array<char, 4 * perLine + 4> line;
  char *end = line.data();
  size_t inLine = 0;
};

} // namespace

void Weights::printText(llvm::raw_ostream &os) const {
  WeightsText text(os);
  visit([&](llvm::ArrayRef<uint8_t> bytes) { text.add(bytes); });
}
