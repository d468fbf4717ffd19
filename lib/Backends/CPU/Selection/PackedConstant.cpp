//===- PackedConstant.cpp - What kernels read of a constant ---------------===//

#include "Selection/PackedConstant.h"
#include "glowish/Base/TensorSource.h"
#include "llvm/ADT/Hashing.h"
#include <cstring>
#include <vector>

using namespace glowish;

namespace {

class PackedConstant : public llvm::RTTIExtends<PackedConstant, TensorSource> {
public:
  static char ID;

  using Pack = std::function<void(const Tensor &, uint8_t *)>;
  PackedConstant(std::shared_ptr<const Tensor> constant, llvm::StringRef layout,
                 llvm::ArrayRef<int64_t> key, Pack pack)
      : constant(std::move(constant)), layout(layout), key(key),
        pack(std::move(pack)) {}

  void write(const Type &type, uint8_t *to) const override {
    std::memset(to, 0, size_t(type.getSizeInBytes()));
    pack(*constant, to);
  }
  bool isEqual(const TensorSource &other) const override {
    const auto &others = llvm::cast<PackedConstant>(other);
    return layout == others.layout && key == others.key &&
           (constant == others.constant ||
            constant->isBitwiseEqual(*others.constant));
  }
  uint64_t getFingerprint() const override {
    return llvm::hash_combine(constant->getFingerprint(), layout,
                              llvm::hash_combine_range(key.begin(), key.end()));
  }
  void releasePages() const override { constant->releasePages(); }

private:
  std::shared_ptr<const Tensor> constant;
  llvm::StringRef layout;
  std::vector<int64_t> key;
  Pack pack;
};

} // namespace

char PackedConstant::ID = 0;

Tensor glowish::packLater(const Type &type,
                          std::shared_ptr<const Tensor> constant,
                          llvm::StringLiteral layout,
                          llvm::ArrayRef<int64_t> key,
                          std::function<void(const Tensor &, uint8_t *)> pack) {
  return Tensor::defer(
      type, std::make_shared<PackedConstant>(std::move(constant), layout, key,
                                             std::move(pack)));
}
