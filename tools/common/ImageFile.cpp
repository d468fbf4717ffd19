//===- ImageFile.cpp - PNG, JPEG and Netpbm files -------------------------===//

#include "common/ImageFile.h"
#include "common/Netpbm.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Path.h"
#include <csetjmp>
#include <cstdio>
#include <jpeglib.h>
#include <png.h>

using namespace glowish;

static constexpr llvm::StringLiteral imageExtensions[] = {
    ".png", ".jpg", ".jpeg", ".ppm", ".pgm"};

bool glowish::isImageName(llvm::StringRef path) {
  std::string extension = llvm::sys::path::extension(path).lower();
  return llvm::is_contained(imageExtensions, extension);
}

static llvm::Error readPng(llvm::StringRef bytes, Image &image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return makeError("not a PNG image: {0}", png.message);
  png.format = image.numChannels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  image.width = png.width;
  image.height = png.height;
  if (llvm::Error error = allocatePixels(image)) {
    png_image_free(&png);
    return error;
  }
  png_color black = {};
  if (!png_image_finish_read(&png, &black, image.pixels.data(), 0, nullptr))
    return makeError("a corrupt PNG image: {0}", png.message);
  return llvm::Error::success();
}

namespace {
/// libjpeg reports errors by a function that must not return.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf target;
  char message[JMSG_LENGTH_MAX];
};
} // namespace

[[noreturn]] static void endReading(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->target, 1);
}

/// Warnings are about corrupt data, which would be read as grey.
static void endAtWarning(j_common_ptr info, int level) {
  if (level < 0)
    endReading(info);
}

/// Runs \p body; false where libjpeg stopped it. Nothing that \p body makes may
/// need a destructor.
static bool guard(JpegErrors &errors, llvm::function_ref<void()> body) {
  if (setjmp(errors.target))
    return false;
  body();
  return true;
}

static void readRows(jpeg_decompress_struct &info, Image &image) {
  jpeg_start_decompress(&info);
  size_t pitch = size_t(image.width) * image.numChannels;
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.pixels.data() + info.output_scanline * pitch;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
}

static llvm::Error readJpeg(llvm::StringRef bytes, Image &image) {
  jpeg_decompress_struct info = {};
  JpegErrors errors = {};
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = endReading;
  errors.manager.emit_message = endAtWarning;
  bool isGood = guard(errors, [&] {
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes.bytes_begin(), bytes.size());
    jpeg_read_header(&info, TRUE);
    info.out_color_space = image.numChannels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  });
  llvm::Error error = llvm::Error::success();
  if (isGood) {
    image.width = info.image_width;
    image.height = info.image_height;
    error = allocatePixels(image);
    if (!error)
      isGood = guard(errors, [&] { readRows(info, image); });
  }
  jpeg_destroy_decompress(&info);
  if (error)
    return error;
  if (!isGood)
    return makeError("not an image (PNG, JPEG, PPM, PGM), or a corrupt JPEG "
                     "file: {0}",
                     errors.message);
  return llvm::Error::success();
}

llvm::Expected<Image> glowish::readImage(llvm::StringRef path,
                                         unsigned numChannels) {
  GLOWISH_ASSIGN_OR_RETURN(auto buffer, readFile(path));
  llvm::StringRef bytes = buffer->getBuffer();
  Image image;
  image.numChannels = numChannels;
  auto read = bytes.starts_with("\x89PNG") ? readPng
              : isNetpbm(bytes)            ? readNetpbm
                                           : readJpeg;
  if (llvm::Error error = read(bytes, image))
    return addContext(std::move(error), "'" + path + "': ");
  return image;
}
