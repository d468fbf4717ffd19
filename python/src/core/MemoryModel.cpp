//===- MemoryModel.cpp - The bytes of a model -----------------------------===//

#include "core/MemoryModel.h"
#include "glowish/Support/MemoryFile.h"

using namespace glowish;
using namespace glowish::python;

MemoryModel::MemoryModel(const void *bytes, size_t size,
                         const std::string &name)
    : file(std::make_unique<MemoryFile>(
          llvm::StringRef(static_cast<const char *>(bytes), size), name)) {}

MemoryModel::~MemoryModel() = default;

const std::string &MemoryModel::getPath() const { return file->getPath(); }
