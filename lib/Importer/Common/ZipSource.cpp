//===- ZipSource.cpp - Where libzip reads an archive ----------------------===//

#include "Common/ZipSource.h"
#include "glowish/Support/Error.h"
#include <cstring>

using namespace glowish;

ZipSource::ZipSource(std::shared_ptr<llvm::MemoryBuffer> file)
    : file(std::move(file)) {
  zip_error_init(&error);
}

ZipSource::~ZipSource() { zip_error_fini(&error); }

zip_int64_t ZipSource::read(void *data, zip_uint64_t size) {
  llvm::StringRef bytes = file->getBuffer().substr(position, size);
  if (!bytes.empty())
    std::memcpy(data, bytes.data(), bytes.size());
  lastRead = position;
  position += bytes.size();
  return zip_int64_t(bytes.size());
}

zip_int64_t ZipSource::seek(void *data, zip_uint64_t size) {
  zip_int64_t target = zip_source_seek_compute_offset(
      position, file->getBufferSize(), data, size, &error);
  if (target < 0)
    return -1;
  position = size_t(target);
  return 0;
}

zip_int64_t ZipSource::describe(void *data, zip_uint64_t size) {
  zip_stat_t *stat = ZIP_SOURCE_GET_ARGS(zip_stat_t, data, size, &error);
  if (!stat)
    return -1;
  zip_stat_init(stat);
  stat->size = file->getBufferSize();
  stat->valid |= ZIP_STAT_SIZE;
  return sizeof(*stat);
}

zip_int64_t ZipSource::answer(void *source, void *data, zip_uint64_t size,
                              zip_source_cmd_t command) {
  auto &self = *static_cast<ZipSource *>(source);
  switch (command) {
  case ZIP_SOURCE_OPEN:
    self.position = 0;
    return 0;
  case ZIP_SOURCE_READ:
    return self.read(data, size);
  case ZIP_SOURCE_SEEK:
    return self.seek(data, size);
  case ZIP_SOURCE_TELL:
    return zip_int64_t(self.position);
  case ZIP_SOURCE_STAT:
    return self.describe(data, size);
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&self.error, data, size);
  case ZIP_SOURCE_CLOSE:
  case ZIP_SOURCE_FREE:
  // An empty file is no archive.
  case ZIP_SOURCE_ACCEPT_EMPTY:
    return 0;
  case ZIP_SOURCE_SUPPORTS:
    return ZIP_SOURCE_SUPPORTS_SEEKABLE |
           ZIP_SOURCE_MAKE_COMMAND_BITMASK(ZIP_SOURCE_ACCEPT_EMPTY);
  default:
    zip_error_set(&self.error, ZIP_ER_OPNOTSUPP, 0);
    return -1;
  }
}

llvm::Expected<zip_t *> ZipSource::open() {
  zip_error_t problem;
  zip_error_init(&problem);
  zip_source_t *source = zip_source_function_create(answer, this, &problem);
  zip_t *archive =
      source ? zip_open_from_source(source, ZIP_RDONLY, &problem) : nullptr;
  std::string text = zip_error_strerror(&problem);
  zip_error_fini(&problem);
  if (archive)
    return archive;
  zip_source_free(source);
  return makeError("it is no ZIP archive that can be read: {0}", text);
}
