//===- ExternalData.cpp - External data of tensors ------------------------===//

#include "ONNX/ExternalData.h"
#include "ONNX/DetachedData.h"
#include "ONNX/ModelFile.h"
#include "glowish/Base/Packing.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/File.h"
#include "glowish/Support/MemoryFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
using namespace glowish::onnximport;
namespace fs = llvm::sys::fs;

namespace {

/// The entries of TensorProto.external_data. A checksum is not verified: that
/// would read all of the file, which defeats memory mapping.
struct Place {
  llvm::StringRef location;
  uint64_t offset = 0;
  uint64_t length = 0;
};

} // namespace

static llvm::Expected<Place> readPlace(const onnx::TensorProto &proto,
                                       const Type &type) {
  Place place;
  place.length = getPackedSize(type);
  for (const auto &entry : proto.external_data()) {
    llvm::StringRef value = entry.value();
    if (entry.key() == "location")
      place.location = value;
    else if ((entry.key() == "offset" &&
              value.getAsInteger(10, place.offset)) ||
             (entry.key() == "length" && value.getAsInteger(10, place.length)))
      return makeError("external data have a malformed {0}: {1}", entry.key(),
                       quote(value));
  }
  return place;
}

/// Whether \p path is in \p folder or below; both are real paths.
static bool isInside(llvm::StringRef path, llvm::StringRef folder) {
  return path.consume_front(folder) &&
         (folder.ends_with("/") || path.starts_with("/"));
}

DataFolders DataFolders::of(llvm::StringRef path) {
  DataFolders folders;
  if (isMemoryFile(path))
    return folders;
  folders.own = llvm::sys::path::parent_path(path);
  if (folders.own.empty())
    folders.own = ".";
  llvm::SmallString<128> real;
  if (fs::is_symlink_file(path) && !fs::real_path(path, real))
    folders.target = llvm::sys::path::parent_path(real);
  return folders;
}

/// The real path of \p location.
llvm::Expected<std::string>
ExternalData::findFile(llvm::StringRef location) const {
  namespace path = llvm::sys::path;
  if (folders.own.empty())
    return makeError("external data {0} need the model to be a file",
                     quote(location));
  if (location.empty() || path::is_absolute(location) ||
      location.contains('\0') ||
      llvm::is_contained(
          llvm::make_range(path::begin(location), path::end(location)), ".."))
    return makeError("external data must be in the model's folder");
  llvm::SmallString<128> name(folders.own), real, realFolder;
  path::append(name, location);
  if (fs::real_path(name, real) || fs::real_path(folders.own, realFolder))
    return makeError("external data {0} cannot be found in the model's folder",
                     quote(location));
  // Symbolic links must not lead out of the directory either, but where the
  // model's does.
  if (!isInside(real, realFolder) && path::parent_path(real) != folders.target)
    return makeError("external data {0} are a link out of the model's folder; "
                     "accepted: a file in it, or a link to a file beside the "
                     "one that the model itself is a link to",
                     quote(location));
  // Reading a pipe might never end.
  if (!fs::is_regular_file(real))
    return makeError("external data {0} are not a plain file", quote(location));
  return real.str().str();
}

llvm::Expected<ExternalData::File>
ExternalData::open(llvm::StringRef location) {
  if (folders.model && location == ownFileLocation)
    return folders.model;
  GLOWISH_ASSIGN_OR_RETURN(std::string real, findFile(location));
  File &file = files[real];
  if (!file) {
    GLOWISH_ASSIGN_OR_RETURN(file, readFile(real));
  }
  return file;
}

/// Adds the files of the tensors in \p message to \p paths, by location.
llvm::Error
ExternalData::addFiles(const google::protobuf::Message &message,
                       std::map<std::string, std::string> &paths) const {
  if (message.GetDescriptor() == onnx::TensorProto::descriptor()) {
    const auto &tensor = static_cast<const onnx::TensorProto &>(message);
    for (const auto &entry : tensor.external_data())
      if (entry.key() == "location" &&
          (!folders.model || entry.value() != ownFileLocation)) {
        GLOWISH_ASSIGN_OR_RETURN(paths[entry.value()], findFile(entry.value()));
      }
    return llvm::Error::success();
  }
  const google::protobuf::Reflection &reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection.ListFields(message, &fields);
  for (const auto *field : fields) {
    if (field->cpp_type() != field->CPPTYPE_MESSAGE)
      continue;
    if (!field->is_repeated()) {
      GLOWISH_RETURN_IF_ERROR(
          addFiles(reflection.GetMessage(message, field), paths));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      GLOWISH_RETURN_IF_ERROR(
          addFiles(reflection.GetRepeatedMessage(message, field, i), paths));
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::string>>
ExternalData::listFiles(const google::protobuf::Message &message) const {
  std::map<std::string, std::string> paths;
  GLOWISH_RETURN_IF_ERROR(addFiles(message, paths));
  std::vector<std::string> files;
  for (const auto &[location, real] : paths)
    files.push_back(real);
  return files;
}

llvm::Expected<std::shared_ptr<const Tensor>>
ExternalData::read(const onnx::TensorProto &proto, const Type &type) {
  GLOWISH_ASSIGN_OR_RETURN(Place place, readPlace(proto, type));
  GLOWISH_ASSIGN_OR_RETURN(File file, open(place.location));
  llvm::StringRef text = file->getBuffer();
  if (place.offset > text.size() || place.length > text.size() - place.offset)
    return makeError("external data {0} have {1} bytes; {2} at {3} are needed",
                     quote(place.location), text.size(), place.length,
                     place.offset);
  text = text.substr(place.offset, place.length);
  llvm::ArrayRef<uint8_t> bytes(text.bytes_begin(), text.bytes_end());
  // A bool of a file may have another value than 0 and 1.
  bool isOther = type.getKind() == ElemKind::Bool &&
                 llvm::any_of(bytes, [](uint8_t byte) { return byte > 1; });
  if (int64_t(bytes.size()) != getPackedSize(type) || isOther) {
    GLOWISH_ASSIGN_OR_RETURN(Tensor copy, readRawTensor(type, bytes));
    return std::make_shared<const Tensor>(std::move(copy));
  }
  return std::make_shared<const Tensor>(StoredElements::makeTensor(
      type, StoredBytes::of(std::move(file), place.offset, bytes.size())));
}
