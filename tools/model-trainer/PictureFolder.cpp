//===- PictureFolder.cpp - Samples in pictures ----------------------------===//

#include "glowish/Support/Error.h"
#include "glowish/Support/Progress.h"
#include "model-trainer/DataSet.h"
#include "model-trainer/PictureFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace fs = llvm::sys::fs;

namespace {

/// How the model's input takes pictures.
struct PictureShape {
  unsigned numChannels = 0, height = 0, width = 0;
  bool channelsFirst = true;
};

struct Class {
  std::string name;
  /// Sorted.
  std::vector<std::string> files;
};

} // namespace

/// [batch, channels, height, width] or [batch, height, width, channels].
static llvm::Expected<PictureShape>
findShape(llvm::ArrayRef<OnnxModel::StatedInput> inputs) {
  if (inputs.size() != 1)
    return makeError("the model has {0} inputs; accepted with pictures: one",
                     inputs.size());
  const OnnxModel::StatedInput &input = inputs.front();
  auto isChannels = [&](size_t d) {
    return input.shape[d] == 1 || input.shape[d] == 3;
  };
  bool isKnown = input.shape.size() == 4;
  for (size_t d = 1; d < 4 && isKnown; ++d)
    isKnown = input.shape[d].value_or(0) > 0;
  if (!isKnown || !(isChannels(1) || isChannels(3)))
    return makeError("the input '{0}' takes no pictures; accepted: rank 4, and "
                     "after the batch 1 or 3 channels, height and width, or "
                     "height, width and channels; -model-input states open "
                     "extents",
                     input.name);
  PictureShape shape;
  shape.channelsFirst = isChannels(1);
  size_t channels = shape.channelsFirst ? 1 : 3;
  size_t height = shape.channelsFirst ? 2 : 1;
  shape.numChannels = unsigned(*input.shape[channels]);
  shape.height = unsigned(*input.shape[height]);
  shape.width = unsigned(*input.shape[height + 1]);
  return shape;
}

/// The names in \p folder that \p isWanted, sorted.
static llvm::Expected<std::vector<std::string>>
listFolder(llvm::StringRef folder,
           llvm::function_ref<bool(llvm::StringRef path)> isWanted) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code))
    if (isWanted(entry->path()))
      names.push_back(llvm::sys::path::filename(entry->path()).str());
  if (code)
    return makeError("cannot read the folder '{0}': {1}", folder,
                     code.message());
  llvm::sort(names);
  return names;
}

static std::string join(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static llvm::Expected<std::vector<Class>> findClasses(llvm::StringRef folder) {
  GLOWISH_TRY(std::vector<std::string> names,
              listFolder(folder, [](llvm::StringRef path) {
                return fs::is_directory(path) &&
                       !llvm::sys::path::filename(path).starts_with(".");
              }));
  std::vector<Class> classes;
  for (const std::string &name : names) {
    GLOWISH_TRY(std::vector<std::string> files,
                listFolder(join(folder, name), isPictureName));
    if (files.empty())
      return makeError("'{0}' has no pictures (.png, .jpg, .jpeg)",
                       join(folder, name));
    classes.push_back({name, std::move(files)});
  }
  return classes;
}

/// Copies \p picture to \p to as \p shape has it.
static void place(const Picture &picture, const PictureShape &shape,
                  uint8_t *to) {
  if (!shape.channelsFirst) {
    llvm::copy(picture.pixels, to);
    return;
  }
  size_t plane = size_t(shape.height) * shape.width;
  for (size_t i = 0; i < picture.pixels.size(); ++i)
    to[i % shape.numChannels * plane + i / shape.numChannels] =
        picture.pixels[i];
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
  GLOWISH_TRY(PictureShape shape, findShape(request.inputs));
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
      GLOWISH_TRY(
          Picture picture,
          readPicture(join(join(folder, entry.name), file), shape.numChannels));
      if (picture.width != shape.width || picture.height != shape.height)
        picture = scalePicture(picture, shape.width, shape.height);
      place(picture, shape, to);
      to += array.getSampleSize();
      *label++ = int64_t(index);
      progress.step();
    }
  }
  data.inputs.push_back(std::move(array));
  return data;
}
