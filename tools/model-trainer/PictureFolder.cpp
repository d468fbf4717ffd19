//===- PictureFolder.cpp - Samples in pictures ----------------------------===//

#include "common/FileList.h"
#include "common/PictureInput.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Progress.h"
#include "model-trainer/DataSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;

namespace {

struct Class {
  std::string name;
  /// Sorted.
  std::vector<std::string> files;
};

} // namespace

static llvm::Expected<std::vector<Class>> findClasses(llvm::StringRef folder) {
  GLOWISH_TRY(std::vector<std::string> names,
              listFolder(folder, [](llvm::StringRef path) {
                return llvm::sys::fs::is_directory(path) &&
                       !llvm::sys::path::filename(path).starts_with(".");
              }));
  std::vector<Class> classes;
  for (const std::string &name : names) {
    GLOWISH_TRY(std::vector<std::string> files,
                listFolder(joinPaths(folder, name), isPictureName));
    if (files.empty())
      return makeError("'{0}' has no pictures (.png, .jpg, .jpeg, .ppm, .pgm)",
                       joinPaths(folder, name));
    classes.push_back({name, std::move(files)});
  }
  return classes;
}

/// The array for all pictures of \p classes, without values.
static llvm::Expected<SampleArray> makeArray(llvm::StringRef folder,
                                             const DataRequest &request,
                                             const PictureShape &shape,
                                             int64_t count) {
  SampleArray array;
  array.name = request.inputs.front().name;
  array.origin = folder.str();
  array.means = request.pictures.means;
  array.scale = request.pictures.scale;
  array.channelAxis = shape.channelsFirst ? 0 : 2;
  if (array.means.size() != 1 && array.means.size() != shape.numChannels)
    return makeError("-image-mean has {0} numbers, the pictures have {1} "
                     "channels; accepted: one, or one for each channel",
                     array.means.size(), shape.numChannels);
  int64_t c = shape.numChannels, h = shape.height, w = shape.width;
  Dims dims = shape.channelsFirst ? Dims{count, c, h, w} : Dims{count, h, w, c};
  if (llvm::Error error = checkShape(ElemKind::UInt8, dims))
    return addContext(std::move(error), "'" + folder + "': ");
  array.values = Tensor(Type(ElemKind::UInt8, dims));
  return array;
}

llvm::Expected<DataSet> glowish::readPictureFolder(llvm::StringRef folder,
                                                   const DataRequest &request) {
  if (request.inputs.size() != 1)
    return makeError("the model has {0} inputs; accepted with pictures: one",
                     request.inputs.size());
  GLOWISH_TRY(PictureShape shape, findPictureShape(request.inputs.front()));
  GLOWISH_TRY(std::vector<Class> classes, findClasses(folder));
  int64_t count = 0;
  for (const Class &entry : classes)
    count += int64_t(entry.files.size());
  DataSet data;
  GLOWISH_TRY(SampleArray array, makeArray(folder, request, shape, count));
  data.label.name = request.label;
  data.label.origin = folder.str();
  data.label.values = Tensor(Type(ElemKind::Int64, {count}));
  auto *to = static_cast<uint8_t *>(array.values.getBytes());
  int64_t *label = data.label.values.data<int64_t>().data();
  Progress progress("reading pictures", uint64_t(count));
  for (auto [index, entry] : llvm::enumerate(classes)) {
    data.classes.push_back(entry.name);
    for (const std::string &file : entry.files) {
      GLOWISH_TRY(Picture picture,
                  readPicture(joinPaths(joinPaths(folder, entry.name), file),
                              shape.numChannels));
      if (picture.width != shape.width || picture.height != shape.height)
        picture = scalePicture(picture, shape.width, shape.height);
      placePixels(shape, [&](size_t target, size_t from) {
        to[target] = picture.pixels[from];
      });
      to += array.getSampleSize();
      *label++ = int64_t(index);
      progress.step();
    }
  }
  data.inputs.push_back(std::move(array));
  return data;
}
