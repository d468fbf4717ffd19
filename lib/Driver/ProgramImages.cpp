//===- ProgramImages.cpp - Programs as they are kept ----------------------===//

#include "ProgramImages.h"
#include "glowish/Base/TensorSource.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/EndianStream.h"
#include <cstring>

using namespace glowish;

static constexpr llvm::StringLiteral magic("glowish program\n");

namespace {

/// What a file begins with.
struct FileHeader {
  char magic[16];
  uint8_t checksum[32];
  uint8_t key[32];
  llvm::support::ulittle64_t constantBytes, restBytes;
  uint8_t zeros[32];
};
static_assert(sizeof(FileHeader) == 128, "constants are aligned behind it");
static_assert(sizeof(FileHeader) % Tensor::alignment == 0);

//===- Writing ------------------------------------------------------------===//

/// Writes values one after the other; lists and strings with their size.
class ValueWriter {
public:
  explicit ValueWriter(llvm::raw_ostream &os) : os(os) {}

  void write(uint64_t value) {
    llvm::support::endian::write(os, value, llvm::endianness::little);
  }
  void write(llvm::StringRef text) {
    write(text.size());
    os << text;
  }
  template <typename T> void writeList(const T &list) {
    write(list.size());
    for (const auto &element : list)
      write(element);
  }
  void write(const Type &type) {
    write(uint64_t(type.getKind()));
    writeList(type.getShape());
    write(uint64_t(type.isQuantized()));
    if (!type.isQuantized())
      return;
    const auto &[scales, offsets, axis] = type.getQuantParams();
    write(scales.size());
    for (float scale : scales)
      write(uint64_t(llvm::bit_cast<uint32_t>(scale)));
    writeList(offsets);
    write(uint64_t(axis));
  }
  void write(const InputExtents &extents) {
    const auto &[range, required, dims, next] = extents;
    write(uint64_t(range.has_value()));
    if (range) {
      const auto &[symbol, bounds] = *range;
      write(symbol);
      write(uint64_t(bounds.low));
      write(uint64_t(bounds.high));
    }
    write(required.size());
    for (const auto &[a, b] : required) {
      write(a.str());
      write(b.str());
    }
    writeList(dims);
    writeList(next);
  }
  void write(const std::optional<Extent> &extent) {
    write(extent ? extent->str() : "");
  }

private:
  llvm::raw_ostream &os;
};

//===- Reading ------------------------------------------------------------===//

/// Reads what ValueWriter wrote. When there is too little, or a number is not
/// one of those that it should be, all that follows is zeros, and isGood()
/// false.
class ValueReader {
public:
  explicit ValueReader(llvm::StringRef bytes) : bytes(bytes) {}

  bool isGood() const { return good; }
  bool isAtEnd() const { return bytes.empty(); }

  uint64_t readNumber() {
    llvm::StringRef text = take(sizeof(uint64_t));
    return good ? llvm::support::endian::read64le(text.data()) : 0;
  }
  int64_t readInt() { return int64_t(readNumber()); }
  /// A number that is at most \p most.
  uint64_t readUpTo(uint64_t most) {
    uint64_t number = readNumber();
    good &= number <= most;
    return good ? number : 0;
  }
  bool readBool() { return readUpTo(1) != 0; }
  /// The size of a list whose elements have \p bytesEach at least.
  size_t readSize(size_t bytesEach = sizeof(uint64_t)) {
    return readUpTo(bytes.size() / bytesEach);
  }
  std::string readString() { return take(readSize(1)).str(); }
  template <typename ReadFn> auto readList(ReadFn read) {
    std::vector<decltype(read())> list;
    for (size_t left = readSize(); left > 0 && good; --left)
      list.push_back(read());
    return list;
  }
  std::vector<std::string> readStrings() {
    return readList([this] { return readString(); });
  }
  ExtentList readExtentList() {
    return readList([this]() -> std::optional<Extent> {
      std::string text = readString();
      std::optional<Extent> extent = Extent::parse(text);
      good &= extent || text.empty();
      return extent;
    });
  }
  Type readType();
  InputExtents readExtents();

private:
  llvm::StringRef take(size_t size) {
    good &= size <= bytes.size();
    if (!good)
      return {};
    llvm::StringRef taken = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    return taken;
  }

  llvm::StringRef bytes;
  bool good = true;
};

} // namespace

Type ValueReader::readType() {
  auto kind = ElemKind(readUpTo(std::size(allElemKinds) - 1));
  auto shape = readList([this] { return readInt(); });
  bool isQuantized = readBool();
  if (!good || isQuantized != isQuantizedKind(kind)) {
    good = false;
    return {};
  }
  if (!isQuantized)
    return Type(kind, shape);
  QuantParams params;
  params.scales = readList([this] {
    return llvm::bit_cast<float>(
        uint32_t(readUpTo(std::numeric_limits<uint32_t>::max())));
  });
  params.offsets = readList([this] { return int32_t(readInt()); });
  params.axis = int(readInt());
  return good ? Type(kind, shape, std::move(params)) : Type();
}

InputExtents ValueReader::readExtents() {
  InputExtents extents;
  if (readBool()) {
    std::string symbol = readString();
    int64_t low = readInt();
    extents.range = SymbolRange{std::move(symbol), {low, readInt()}};
  }
  extents.required = readList([this] {
    std::optional<Extent> a = Extent::parse(readString());
    std::optional<Extent> b = Extent::parse(readString());
    good &= a && b;
    return good ? ExtentRequirement{*a, *b} : ExtentRequirement{};
  });
  extents.dims = readExtentList();
  extents.next = readExtentList();
  return extents;
}

//===- Programs -----------------------------------------------------------===//

static std::vector<const Buffer *> listPlaceholders(const IRFunction &program) {
  std::vector<const Buffer *> placeholders;
  for (const auto &buffer : program.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      placeholders.push_back(buffer.get());
  return placeholders;
}

/// What a run needs to know of \p plan: sizes, without places.
static std::shared_ptr<MemoryPlan> copySizes(const MemoryPlan &plan) {
  auto copy = std::make_shared<MemoryPlan>(plan);
  copy->offsets.clear();
  copy->arenaPlaceholders.clear();
  // Code has one arena.
  copy->arenaRegions.clear();
  return copy;
}

ProgramImage::ProgramImage(const PlannedProgram &program) {
  auto ownPlan = copySizes(program.getPlan());
  auto function = std::make_shared<IRFunction>(program.getIR().getName());
  llvm::DenseMap<const Buffer *, Buffer *> copies;
  for (const Buffer *buffer : listPlaceholders(program.getIR())) {
    Buffer *copy = copies[buffer] = function->createMutable(
        buffer->getName(), buffer->getType(), buffer->getModelName(),
        buffer->isInput(), buffer->isOutput());
    copy->setInputExtents(buffer->getInputExtents());
    copy->setClassNames(buffer->getClassNames());
    ownPlan->offsets[copy] = program.getPlan().getOffset(buffer);
    if (program.getPlan().isInArena(buffer))
      ownPlan->arenaPlaceholders.insert(copy);
  }
  for (auto [buffer, copy] : copies)
    copy->setExtents(copies.lookup(buffer->getExtents()));
  placeholders = std::move(function);
  plan = std::move(ownPlan);
}

static void writeProgram(ValueWriter &writer, const ProgramImage &program) {
  writer.write(program.title);
  const auto &[offsets, arenaPlaceholders, constantSize, mutableSize,
               activationSize, arenaRegions, alignment, peakLiveBytes] =
      *program.plan;
  for (uint64_t number :
       {constantSize, mutableSize, activationSize, alignment, peakLiveBytes})
    writer.write(number);
  std::vector<const Buffer *> placeholders =
      listPlaceholders(*program.placeholders);
  writer.write(placeholders.size());
  for (const Buffer *buffer : placeholders) {
    writer.write(buffer->getName());
    writer.write(buffer->getType());
    writer.write(buffer->getModelName());
    writer.write(uint64_t(buffer->isInput()));
    writer.write(uint64_t(buffer->isOutput()));
    writer.write(buffer->getInputExtents());
    writer.write(buffer->getClassNames().size());
    for (const std::string &className : buffer->getClassNames())
      writer.write(llvm::StringRef(className));
    // The position of its extents; the number of placeholders if it has none.
    writer.write(uint64_t(llvm::find(placeholders, buffer->getExtents()) -
                          placeholders.begin()));
    writer.write(offsets.lookup(buffer));
    writer.write(uint64_t(arenaPlaceholders.contains(buffer)));
  }
  writer.write(llvm::StringRef(program.code.data(), program.code.size()));
}

/// Whether the bytes of \p buffer at \p offset are in a region of \p size.
static bool isInside(const Buffer &buffer, uint64_t offset, uint64_t size) {
  const Type &type = buffer.getType();
  if (llvm::errorToBool(checkShape(type.getKind(), type.getShape())))
    return false;
  auto bytes = uint64_t(type.getSizeInBytes());
  return offset <= size && bytes <= size - offset;
}

/// Whether all is read.
static bool readProgram(ValueReader &reader, ProgramImage &program) {
  program.title = reader.readString();
  auto plan = std::make_shared<MemoryPlan>();
  for (uint64_t *number :
       {&plan->constantSize, &plan->mutableSize, &plan->activationSize,
        &plan->alignment, &plan->peakLiveBytes})
    *number = reader.readNumber();
  auto function = std::make_shared<IRFunction>("main");
  std::vector<std::pair<Buffer *, size_t>> placeholders;
  size_t count = reader.readSize();
  for (size_t i = 0; i < count && reader.isGood(); ++i) {
    std::string name = reader.readString();
    Type type = reader.readType();
    std::string modelName = reader.readString();
    bool isInput = reader.readBool(), isOutput = reader.readBool();
    if (!reader.isGood())
      return false;
    Buffer *buffer =
        function->createMutable(name, type, modelName, isInput, isOutput);
    buffer->setInputExtents(reader.readExtents());
    buffer->setClassNames(reader.readStrings());
    placeholders.push_back({buffer, reader.readUpTo(count)});
    uint64_t offset = plan->offsets[buffer] = reader.readNumber();
    bool isInArena = reader.readBool();
    if (isInArena)
      plan->arenaPlaceholders.insert(buffer);
    if (!reader.isGood() ||
        !isInside(*buffer, offset,
                  isInArena ? plan->activationSize : plan->mutableSize))
      return false;
  }
  for (auto [buffer, extents] : placeholders)
    if (extents < placeholders.size())
      buffer->setExtents(placeholders[extents].first);
  std::string code = reader.readString();
  program.code.assign(code.begin(), code.end());
  if (!reader.isGood())
    return false;
  program.placeholders = std::move(function);
  program.plan = std::move(plan);
  return true;
}

//===- Files --------------------------------------------------------------===//

/// All but the constants.
static std::string writeRest(const ProgramImages &images) {
  std::string rest;
  llvm::raw_string_ostream os(rest);
  ValueWriter writer(os);
  writer.writeList(images.warnings);
  writer.write(images.sequences.size());
  for (const SequenceOutput &sequence : images.sequences) {
    const auto &[name, index, length] = sequence;
    writer.write(name);
    writer.write(index);
    writer.write(length);
  }
  writer.write(images.programs.size());
  for (const ProgramImage &program : images.programs)
    writeProgram(writer, program);
  return rest;
}

static llvm::StringRef getBytes(const FileHeader &header) {
  return {reinterpret_cast<const char *>(&header), sizeof(header)};
}

/// The checksum of a file: of all that follows it.
static KeyHasher::Digest computeChecksum(const FileHeader &header,
                                         llvm::ArrayRef<uint8_t> constants,
                                         llvm::StringRef rest) {
  llvm::BLAKE3 hasher;
  hasher.update(getBytes(header).drop_front(offsetof(FileHeader, key)));
  hasher.update(constants);
  hasher.update(rest);
  return hasher.final<sizeof(KeyHasher::Digest)>();
}

void glowish::writeImages(llvm::raw_ostream &os, const ProgramImages &images,
                          const KeyHasher::Digest &key) {
  std::string rest = writeRest(images);
  llvm::ArrayRef<uint8_t> constants = images.constants->getByteRange();
  FileHeader header = {};
  std::memcpy(header.magic, magic.data(), sizeof(header.magic));
  llvm::copy(key, header.key);
  header.constantBytes = constants.size();
  header.restBytes = rest.size();
  llvm::copy(computeChecksum(header, constants, rest), header.checksum);
  os << getBytes(header) << llvm::toStringRef(constants) << rest;
}

uint64_t glowish::getFileSize(const ProgramImages &images) {
  return sizeof(FileHeader) + uint64_t(images.constants->getSizeInBytes()) +
         writeRest(images).size();
}

static bool readRest(llvm::StringRef rest, ProgramImages &images) {
  ValueReader reader(rest);
  images.warnings = reader.readStrings();
  images.sequences = reader.readList([&] {
    SequenceOutput output;
    output.name = reader.readString();
    output.index = reader.readNumber();
    output.length = reader.readNumber();
    return output;
  });
  size_t count = reader.readSize();
  for (size_t i = 0; i < count && reader.isGood(); ++i)
    if (!readProgram(reader, images.programs.emplace_back()))
      return false;
  return reader.isGood() && reader.isAtEnd() && count > 0;
}

std::unique_ptr<ProgramImages>
glowish::readImages(std::shared_ptr<llvm::MemoryBuffer> file,
                    const KeyHasher::Digest &key) {
  llvm::StringRef bytes = file->getBuffer();
  FileHeader header;
  if (bytes.size() < sizeof(header))
    return nullptr;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes = bytes.drop_front(sizeof(header));
  if (llvm::StringRef(header.magic, sizeof(header.magic)) != magic ||
      llvm::ArrayRef(header.key) != llvm::ArrayRef(key) ||
      header.constantBytes > bytes.size() ||
      header.restBytes != bytes.size() - header.constantBytes)
    return nullptr;
  llvm::StringRef rest = bytes.drop_front(header.constantBytes);
  bytes = bytes.take_front(header.constantBytes);
  KeyHasher::Digest checksum =
      computeChecksum(header, llvm::arrayRefFromStringRef(bytes), rest);
  if (llvm::ArrayRef(header.checksum) != llvm::ArrayRef(checksum))
    return nullptr;
  auto images = std::make_unique<ProgramImages>();
  if (!readRest(rest, *images))
    return nullptr;
  for (const ProgramImage &program : images->programs)
    if (program.plan->constantSize > bytes.size())
      return nullptr;
  images->constants = std::make_shared<const Tensor>(StoredElements::makeTensor(
      Type(ElemKind::UInt8, {int64_t(bytes.size())}),
      StoredBytes::of(std::move(file), sizeof(header), bytes.size())));
  return images;
}
