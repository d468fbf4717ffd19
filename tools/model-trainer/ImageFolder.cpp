//===- ImageFolder.cpp - Samples in images --------------------------------===//

#include "model-trainer/ImageFolder.h"
#include "common/FileList.h"
#include "common/ImageInput.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Progress.h"
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
  GLOWISH_ASSIGN_OR_RETURN(
      std::vector<std::string> names,
      listFolder(
          folder,
          [](llvm::StringRef path) {
            return llvm::sys::fs::is_directory(path) &&
                   !llvm::sys::path::filename(path).starts_with(".");
          }));
  std::vector<Class> classes;
  for (const std::string &name : names) {
    GLOWISH_ASSIGN_OR_RETURN(std::vector<std::string> files,
                             listFolder(joinPaths(folder, name), isImageName));
    if (files.empty())
      return makeError("'{0}' has no images (.png, .jpg, .jpeg, .ppm, .pgm)",
                       joinPaths(folder, name));
    classes.push_back({name, std::move(files)});
  }
  return classes;
}

/// The array for all images of \p classes, without values.
static llvm::Expected<SampleArray> makeArray(llvm::StringRef folder,
                                             const DataRequest &request,
                                             const ImageShape &shape,
                                             int64_t count) {
  SampleArray array;
  array.name = request.inputs.front().name;
  array.origin = folder.str();
  array.means = request.images.means;
  array.scale = request.images.scale;
  array.channelAxis = shape.channelsFirst ? 0 : 2;
  if (array.means.size() != 1 && array.means.size() != shape.numChannels)
    return makeError("-image-mean has {0} numbers, the images have {1} "
                     "channels; accepted: one, or one for each channel",
                     array.means.size(), shape.numChannels);
  int64_t c = shape.numChannels, h = shape.height, w = shape.width;
  Dims dims = shape.channelsFirst ? Dims{count, c, h, w} : Dims{count, h, w, c};
  if (llvm::Error error = checkShape(ElemKind::UInt8, dims))
    return addContext(std::move(error), "'" + folder + "': ");
  array.values = Tensor(Type(ElemKind::UInt8, dims));
  return array;
}

llvm::Expected<DataSet> glowish::readImageFolder(llvm::StringRef folder,
                                                 const DataRequest &request) {
  if (request.inputs.size() != 1)
    return makeError("the model has {0} inputs; accepted with images: one",
                     request.inputs.size());
  GLOWISH_ASSIGN_OR_RETURN(ImageShape shape,
                           findImageShape(request.inputs.front()));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Class> classes, findClasses(folder));
  int64_t count = 0;
  for (const Class &entry : classes)
    count += int64_t(entry.files.size());
  DataSet data;
  GLOWISH_ASSIGN_OR_RETURN(SampleArray array,
                           makeArray(folder, request, shape, count));
  data.label.name = request.label;
  data.label.origin = folder.str();
  data.label.values = Tensor(Type(ElemKind::Int64, {count}));
  auto *to = static_cast<uint8_t *>(array.values.getBytes());
  int64_t *label = data.label.values.data<int64_t>().data();
  Progress progress("reading images", uint64_t(count));
  for (auto [index, entry] : llvm::enumerate(classes)) {
    data.classes.push_back(entry.name);
    for (const std::string &file : entry.files) {
      GLOWISH_ASSIGN_OR_RETURN(
          Image image, readImage(joinPaths(joinPaths(folder, entry.name), file),
                                 shape.numChannels));
      if (image.width != shape.width || image.height != shape.height)
        image = scaleImage(image, shape.width, shape.height);
      placePixels(shape, [&](size_t target, size_t from) {
        to[target] = image.pixels[from];
      });
      to += array.getSampleSize();
      *label++ = int64_t(index);
      progress.step();
    }
  }
  data.inputs.push_back(std::move(array));
  return data;
}
