//===- Checkpoint.cpp - Checkpoints of a training -------------------------===//

#include "model-trainer/Checkpoint.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/EndianStream.h"

using namespace glowish;

/// A file is this, the version, the checksum of the rest (checksum64), and the
/// rest: all numbers little-endian, strings after their lengths.
static constexpr llvm::StringLiteral magic = "GLOWCKPT";
static constexpr uint64_t version = 2;
static constexpr size_t headerSize = magic.size() + 16;

namespace {

class Writer {
public:
  Writer() : stream(bytes), writer(stream, llvm::endianness::little) {}
  void write(uint64_t value) { writer.write(value); }
  void write(int64_t value) { writer.write(value); }
  void write(double value) { writer.write(value); }
  void write(bool value) { writer.write(uint64_t(value)); }
  void write(std::optional<double> value) {
    write(value.has_value());
    write(value.value_or(0));
  }
  void write(llvm::StringRef text) {
    write(uint64_t(text.size()));
    stream << text;
  }
  void write(const Tensor &tensor) {
    const Type &type = tensor.getType();
    write(getElemKindName(type.getKind()));
    write(uint64_t(type.getRank()));
    for (int64_t extent : type.getShape())
      write(extent);
    write(llvm::toStringRef(tensor.getByteRange()));
  }
  std::string bytes;

private:
  llvm::raw_string_ostream stream;
  llvm::support::endian::Writer writer;
};

class Reader {
public:
  explicit Reader(llvm::StringRef bytes)
      : data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8), cursor(0) {}
  ~Reader() { llvm::consumeError(cursor.takeError()); }
  /// Whether all was there so far.
  bool isGood() { return bool(cursor); }
  bool isAtEnd() { return data.eof(cursor); }

  void read(uint64_t &value) { value = data.getU64(cursor); }
  void read(int64_t &value) { value = int64_t(data.getU64(cursor)); }
  void read(double &value) {
    value = llvm::bit_cast<double>(data.getU64(cursor));
  }
  void read(bool &value) { value = data.getU64(cursor) != 0; }
  void read(std::optional<double> &value) {
    bool exists = false;
    double number = 0;
    read(exists);
    read(number);
    if (exists)
      value = number;
  }
  llvm::StringRef readBytes() {
    uint64_t size = data.getU64(cursor);
    return isGood() ? data.getBytes(cursor, size) : llvm::StringRef();
  }
  std::optional<Tensor> readTensor();

private:
  llvm::DataExtractor data;
  llvm::DataExtractor::Cursor cursor;
};

} // namespace

/// Nothing where it is not a tensor.
std::optional<Tensor> Reader::readTensor() {
  std::optional<ElemKind> kind = parseElemKind(readBytes());
  uint64_t rank = 0;
  read(rank);
  Dims shape;
  for (uint64_t d = 0; d < rank && isGood(); ++d)
    read(shape.emplace_back());
  llvm::StringRef bytes = readBytes();
  if (!isGood() || !kind || isQuantizedKind(*kind))
    return std::nullopt;
  if (llvm::Error error = checkShape(*kind, shape)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  Type type(*kind, shape);
  if (uint64_t(type.getSizeInBytes()) != bytes.size())
    return std::nullopt;
  Tensor tensor(type);
  std::copy(bytes.begin(), bytes.end(), static_cast<char *>(tensor.getBytes()));
  return tensor;
}

/// Calls \p visit with all numbers of \p checkpoint, in the order of the file.
static void visitNumbers(auto &checkpoint, auto visit) {
  visit(checkpoint.seed);
  visit(checkpoint.batchSize);
  visit(checkpoint.numSamples);
  visit(checkpoint.shuffles);
  visit(checkpoint.step);
  visit(checkpoint.metrics.loss);
  visit(checkpoint.metrics.numLosses);
  visit(checkpoint.metrics.numLabels);
  visit(checkpoint.metrics.numCorrect);
}

static void visitEpoch(auto &result, auto visit) {
  visit(result.epoch);
  visit(result.loss);
  visit(result.accuracy);
  visit(result.validationLoss);
  visit(result.validationAccuracy);
}

llvm::Error glowish::writeCheckpoint(const Checkpoint &checkpoint,
                                     llvm::StringRef path) {
  Writer writer;
  auto write = [&](const auto &value) { writer.write(value); };
  visitNumbers(checkpoint, write);
  write(uint64_t(checkpoint.history.size()));
  for (const EpochResult &result : checkpoint.history)
    visitEpoch(result, write);
  write(uint64_t(checkpoint.variables.size()));
  for (const Checkpoint::Variable &variable : checkpoint.variables) {
    write(llvm::StringRef(variable.name));
    write(variable.value);
  }
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> file = files.add(path);
  if (!file)
    return file.takeError();
  *file << magic;
  llvm::support::endian::Writer header(*file, llvm::endianness::little);
  header.write(version);
  header.write(checksum64(llvm::arrayRefFromStringRef(writer.bytes)));
  *file << writer.bytes;
  return files.commit();
}

/// Nothing where the bytes are not a checkpoint's.
static std::optional<Checkpoint> parse(llvm::StringRef bytes) {
  Reader reader(bytes);
  auto read = [&](auto &value) { reader.read(value); };
  Checkpoint checkpoint;
  visitNumbers(checkpoint, read);
  uint64_t numEpochs = 0, numVariables = 0;
  read(numEpochs);
  for (uint64_t i = 0; i < numEpochs && reader.isGood(); ++i)
    visitEpoch(checkpoint.history.emplace_back(), read);
  read(numVariables);
  for (uint64_t i = 0; i < numVariables && reader.isGood(); ++i) {
    std::string name = reader.readBytes().str();
    std::optional<Tensor> value = reader.readTensor();
    if (!value)
      return std::nullopt;
    checkpoint.variables.push_back({std::move(name), std::move(*value)});
  }
  if (!reader.isGood() || !reader.isAtEnd())
    return std::nullopt;
  return checkpoint;
}

llvm::Expected<Checkpoint> glowish::parseCheckpoint(llvm::StringRef bytes,
                                                    llvm::StringRef path) {
  if (!bytes.starts_with(magic))
    return makeError("'{0}' is not a checkpoint", path);
  if (bytes.size() < headerSize)
    return makeError("'{0}': the checkpoint is corrupt: it ends early", path);
  const char *header = bytes.data() + magic.size();
  uint64_t found = llvm::support::endian::read64le(header);
  if (found != version)
    return makeError("'{0}' is a checkpoint of version {1}; accepted: {2}; "
                     "without the file, training starts again",
                     path, found, version);
  llvm::StringRef rest = bytes.drop_front(headerSize);
  std::optional<Checkpoint> checkpoint;
  if (checksum64(llvm::arrayRefFromStringRef(rest)) ==
      llvm::support::endian::read64le(header + 8))
    checkpoint = parse(rest);
  if (!checkpoint)
    return makeError("'{0}': the checkpoint is corrupt: its checksum does not "
                     "fit",
                     path);
  return std::move(*checkpoint);
}

llvm::Expected<Checkpoint> glowish::readCheckpoint(llvm::StringRef path) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  return parseCheckpoint(buffer->getBuffer(), path);
}
