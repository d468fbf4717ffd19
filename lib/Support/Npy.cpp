//===- Npy.cpp - NumPy array files ----------------------------------------===//

#include "glowish/Support/Npy.h"
#include "glowish/Support/Escape.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <optional>
#include <set>

using namespace glowish;

static constexpr llvm::StringLiteral magic = "\x93NUMPY";

namespace {

struct Header {
  std::string element;
  bool isBigEndian = false;
  bool isColumnMajor = false;
  std::vector<int64_t> shape;
};

/// Parses the header, a Python dictionary literal:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
/// The keys may be in any order and the strings in either kind of quotes.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : rest(text) {}
  llvm::Expected<Header> parse();

private:
  bool consume(llvm::StringRef token);
  std::optional<llvm::StringRef> parseString();
  llvm::Error parseEntry(llvm::StringRef key);
  llvm::Error parseElement();
  llvm::Error parseOrder();
  llvm::Error parseShape();

  llvm::StringRef rest;
  Header header;
};

} // namespace

/// The maximum number of dimensions in NumPy itself.
static constexpr size_t maxRank = 64;

bool HeaderParser::consume(llvm::StringRef token) {
  rest = rest.ltrim();
  return rest.consume_front(token);
}

std::optional<llvm::StringRef> HeaderParser::parseString() {
  rest = rest.ltrim();
  if (!rest.starts_with("'") && !rest.starts_with("\""))
    return std::nullopt;
  size_t end = rest.find(rest[0], 1);
  if (end == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef text = rest.slice(1, end);
  rest = rest.drop_front(end + 1);
  return text;
}

llvm::Error HeaderParser::parseElement() {
  std::optional<llvm::StringRef> text = parseString();
  if (!text)
    return makeError("no element type (structured arrays are not supported)");
  llvm::StringRef element = *text;
  header.isBigEndian = element.consume_front(">");
  // '=' means the byte order of the machine that wrote the file: little-endian
  // on all supported hosts.
  if (!header.isBigEndian && !element.empty() &&
      llvm::StringRef("<|=").contains(element[0]))
    element = element.drop_front();
  static const char *known[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                "i8", "u1", "u2", "u4", "u8", "b1"};
  if (!llvm::is_contained(known, element))
    return makeError("element type {0} is not supported; accepted: floats, "
                     "integers and bool",
                     quote(*text));
  header.element = element.str();
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseOrder() {
  header.isColumnMajor = consume("True");
  if (!header.isColumnMajor && !consume("False"))
    return makeError("'fortran_order' is neither True nor False");
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseShape() {
  if (!consume("("))
    return makeError("'shape' is not a tuple");
  while (!consume(")")) {
    int64_t extent = 0;
    rest = rest.ltrim();
    if (rest.consumeInteger(10, extent) || extent < 0)
      return makeError("a malformed shape");
    // The suffix of Python 2's long integers.
    rest.consume_front("L");
    header.shape.push_back(extent);
    if (header.shape.size() > maxRank)
      return makeError("more than {0} dimensions", maxRank);
    if (!consume(",") && !rest.starts_with(")"))
      return makeError("a malformed shape");
  }
  return llvm::Error::success();
}

llvm::Error HeaderParser::parseEntry(llvm::StringRef key) {
  if (key == "descr")
    return parseElement();
  if (key == "fortran_order")
    return parseOrder();
  if (key == "shape")
    return parseShape();
  return makeError("an unknown key {0} in the header", quote(key));
}

llvm::Expected<Header> HeaderParser::parse() {
  std::set<std::string> seen;
  if (!consume("{"))
    return makeError("a malformed header");
  while (!consume("}")) {
    std::optional<llvm::StringRef> key = parseString();
    if (!key || !consume(":"))
      return makeError("a malformed header");
    if (!seen.insert(key->str()).second)
      return makeError("duplicate key {0} in the header", quote(*key));
    GLOWISH_RETURN_IF_ERROR(parseEntry(*key));
    if (!consume(",") && !rest.ltrim().starts_with("}"))
      return makeError("a malformed header");
  }
  for (const char *key : {"descr", "fortran_order", "shape"})
    if (!seen.count(key))
      return makeError("no '{0}' in the header", key);
  if (!rest.trim().empty())
    return makeError("trailing text after the header");
  return std::move(header);
}

/// Converts column-major to row-major order.
static std::vector<uint8_t> transpose(llvm::ArrayRef<uint8_t> bytes,
                                      llvm::ArrayRef<int64_t> shape,
                                      size_t size) {
  std::vector<uint8_t> result(bytes.size());
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<size_t> strides(shape.size(), size);
  for (size_t d = 1; d < shape.size(); ++d)
    strides[d] = strides[d - 1] * shape[d - 1];
  size_t source = 0;
  for (size_t at = 0; at < bytes.size(); at += size) {
    std::copy_n(bytes.begin() + source, size, result.begin() + at);
    for (size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d])
        break;
      source -= index[d] * strides[d];
      index[d] = 0;
    }
  }
  return result;
}

/// Returns the size of the array in bytes, or nothing if it overflows. Zero
/// extents do not excuse an overflow of the others, as code that multiplies
/// them in another order would overflow.
static std::optional<uint64_t> countBytes(const Header &header, size_t size) {
  uint64_t bytes = size;
  bool isEmpty = false;
  for (int64_t extent : header.shape) {
    isEmpty |= extent == 0;
    if (extent && __builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      return std::nullopt;
  }
  return isEmpty ? 0 : bytes;
}

llvm::Expected<NpyArray> glowish::parseNpy(llvm::StringRef file) {
  if (!file.consume_front(magic))
    return makeError("not a .npy file{0}", file.empty() ? ": it is empty" : "");
  if (file.size() < 2)
    return makeError("the file ends inside its header");
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
  GLOWISH_ASSIGN_OR_RETURN(Header header,
                           HeaderParser(file.take_front(length)).parse());
  file = file.drop_front(length);

  size_t size = header.element[1] - '0';
  std::optional<uint64_t> expected = countBytes(header, size);
  if (!expected)
    return makeError("the shape overflows");
  if (*expected != file.size())
    return makeError("the shape needs {0} bytes, the file has {1}", *expected,
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
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::MemoryBuffer> buffer,
                           readFile(path));
  return addContext(parseNpy(buffer->getBuffer()), "'" + path + "': ");
}

void glowish::writeNpy(llvm::raw_ostream &os, llvm::StringRef element,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<uint8_t> bytes) {
  assert(element.size() == 2 && "an element type such as f4");
  std::string header = "{'descr': '";
  header += element[1] == '1' ? "|" : "<";
  header += element.str() + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(shape[i]);
  header += shape.size() == 1 ? ",), }" : "), }";
  size_t prefix = magic.size() + 4; // plus version and length
  while ((prefix + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  assert(header.size() <= 0xffff && "the shape does not fit version 1.0");
  os << magic << char(1) << char(0);
  os << char(header.size() & 0xff) << char(header.size() >> 8) << header;
  os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}
