//===- MemoryModel.h - The bytes of a model ---------------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_MEMORYMODEL_H
#define GLOWISH_PYTHON_CORE_MEMORYMODEL_H

#include <cstddef>
#include <memory>
#include <string>

namespace glowish {
class MemoryFile;
}

namespace glowish::python {

/// A copy of bytes, which has a path that models are read by while this exists.
class MemoryModel {
public:
  MemoryModel(const void *bytes, size_t size, const std::string &name);
  ~MemoryModel();

  const std::string &getPath() const;

private:
  std::unique_ptr<MemoryFile> file;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_MEMORYMODEL_H
