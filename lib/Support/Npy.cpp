//===- Npy.cpp - NumPy's array files --------------------------------------===//

#include "glowish/Support/Npy.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Endian.h"

using namespace glowish;

namespace {

struct Header {
  std::string element;
  bool isBigEndian = false;
  bool isColumnMajor = false;
  std::vector<int64_t> shape;
};

} // namespace

/// What follows `'key':` in the header's dictionary.
static llvm::StringRef findValue(llvm::StringRef text, llvm::StringRef key) {
  size_t at = text.find(key);
  if (at == llvm::StringRef::npos)
    return {};
  return text.substr(at + key.size()).ltrim(": ");
}

static llvm::Expected<Header> parseHeader(llvm::StringRef text) {
  Header header;
  llvm::StringRef descr = findValue(text, "'descr'");
  if (!descr.consume_front("'"))
    return makeError("no element type (structured arrays are not supported)");
  descr = descr.take_until([](char c) { return c == '\''; });
  header.isBigEndian = descr.consume_front(">");
  descr = descr.ltrim("<|=");
  static const char *known[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                "i8", "u1", "u2", "u4", "u8", "b1"};
  if (!llvm::is_contained(known, descr))
    return makeError("element type '{0}' is not supported; accepted: floats, "
                     "integers and bool",
                     descr);
  header.element = descr.str();
  header.isColumnMajor =
      findValue(text, "'fortran_order'").starts_with("True");
  llvm::StringRef shape = findValue(text, "'shape'");
  if (!shape.consume_front("("))
    return makeError("no shape");
  shape = shape.take_until([](char c) { return c == ')'; });
  while (!(shape = shape.ltrim(" ,")).empty()) {
    int64_t extent = 0;
    if (shape.consumeInteger(10, extent) || extent < 0)
      return makeError("a malformed shape");
    header.shape.push_back(extent);
    if (header.shape.size() > 64)
      return makeError("more than 64 dimensions");
  }
  return header;
}

/// Column-major to row-major.
static std::vector<uint8_t> transpose(llvm::ArrayRef<uint8_t> bytes,
                                      llvm::ArrayRef<int64_t> shape,
                                      size_t size) {
  std::vector<uint8_t> result(bytes.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t at = 0; at < bytes.size(); at += size) {
    size_t source = 0, stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      source += index[d] * stride;
      stride *= shape[d];
    }
    std::copy_n(bytes.begin() + source * size, size, result.begin() + at);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
  return result;
}

static llvm::Expected<NpyArray> parseNpy(llvm::StringRef file) {
  if (!file.consume_front("\x93NUMPY") || file.size() < 4)
    return makeError("not a .npy file");
  unsigned version = uint8_t(file[0]);
  if (version < 1 || version > 3)
    return makeError("version {0} of the .npy format is not supported",
                     version);
  file = file.drop_front(2);
  size_t prefix = version == 1 ? 2 : 4;
  if (file.size() < prefix)
    return makeError("the file ends inside its header");
  size_t length = version == 1 ? llvm::support::endian::read16le(file.data())
                               : llvm::support::endian::read32le(file.data());
  file = file.drop_front(prefix);
  if (length > file.size())
    return makeError("the file ends inside its header");
  GLOWISH_TRY(Header header, parseHeader(file.take_front(length)));
  file = file.drop_front(length);

  size_t size = header.element[1] - '0';
  uint64_t expected = size;
  for (int64_t extent : header.shape)
    if (__builtin_mul_overflow(expected, uint64_t(extent), &expected))
      return makeError("the shape overflows");
  if (expected != file.size())
    return makeError("the shape needs {0} bytes, the file has {1}", expected,
                     file.size());
  NpyArray array;
  array.element = header.element;
  array.shape = header.shape;
  array.bytes.assign(file.bytes_begin(), file.bytes_end());
  if (header.isBigEndian)
    for (size_t at = 0; at < array.bytes.size(); at += size)
      std::reverse(array.bytes.begin() + at, array.bytes.begin() + at + size);
  if (header.isColumnMajor && header.shape.size() > 1)
    array.bytes = transpose(array.bytes, header.shape, size);
  return array;
}

llvm::Expected<NpyArray> glowish::readNpy(llvm::StringRef path) {
  GLOWISH_TRY(std::unique_ptr<llvm::MemoryBuffer> buffer, readFile(path));
  llvm::Expected<NpyArray> array = parseNpy(buffer->getBuffer());
  if (!array)
    return addContext(array.takeError(), "'" + path + "': ");
  return array;
}

void glowish::writeNpy(llvm::raw_ostream &os, llvm::StringRef element,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<uint8_t> bytes) {
  std::string header = "{'descr': '";
  header += element[1] == '1' ? "|" : "<";
  header += element.str() + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(shape[i]);
  header += shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t prefix = 10; // magic, version, length
  while ((prefix + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  os << "\x93NUMPY" << char(1) << char(0);
  os << char(header.size() & 0xff) << char(header.size() >> 8) << header;
  os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}
