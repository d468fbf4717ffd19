//===- CInterfaceFixture.h - A model for the interface in C -----*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_CINTERFACEFIXTURE_H
#define GLOWISH_TESTS_UNIT_CINTERFACEFIXTURE_H

#include "TestFolder.h"
#include "glowish.h"
#include "llvm/Support/raw_ostream.h"

namespace glowish {

/// y = x + total; total grows by the sum of x, and is a state with
/// state=total,next. W is there so that the model has a weight.
inline constexpr llvm::StringLiteral stateModel = R"(
ir_version: 7 opset_import { version: 13 }
graph {
  name: "g"
  node { op_type: "Add" input: "x" input: "total" output: "u" }
  node { op_type: "Mul" input: "u" input: "W" output: "y" }
  node { op_type: "ReduceSum" input: "x" output: "sum" name: "sum"
         attribute { name: "keepdims" type: INT i: 0 } }
  node { op_type: "Add" input: "sum" input: "total" output: "next" }
  initializer { name: "W" data_type: 1 float_data: 2 }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "N" } } } } }
  input { name: "total" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "N" } } } } }
  output { name: "next" type { tensor_type { elem_type: 1 shape { } } } }
})";

/// Returns the message of \p error, which is freed; "" for null.
inline std::string take(glowish_error *error,
                        int32_t code = GLOWISH_ERROR_REFUSED) {
  EXPECT_TRUE(!error || glowish_error_code(error) == code);
  std::string message = glowish_error_message(error);
  glowish_error_free(error);
  return message;
}

class CInterfaceTest : public TestFolder {
protected:
  void SetUp() override {
    TestFolder::SetUp();
    path = in("model.onnxtxt");
    write(path, stateModel);
    options = glowish_options_create();
    EXPECT_EQ(take(glowish_options_set(options, "state", "total,next")), "");
  }
  void TearDown() override {
    glowish_options_free(options);
    TestFolder::TearDown();
  }
  static void write(const std::string &file, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(file, code) << text;
  }
  static glowish_model *open(const std::string &file) {
    glowish_model *result = nullptr;
    EXPECT_EQ(take(glowish_model_open(file.c_str(), &result)), "");
    return result;
  }
  /// The model for N extents, or for what \p symbol says.
  glowish_program *compile(llvm::StringRef symbol) {
    EXPECT_EQ(take(glowish_options_set(options, "define-symbol",
                                       symbol.str().c_str())),
              "");
    glowish_model *opened = open(path);
    glowish_program *program = nullptr;
    EXPECT_EQ(take(glowish_compile(opened, options, nullptr, &program)), "");
    glowish_model_free(opened);
    return program;
  }

  std::string path;
  glowish_options *options = nullptr;
};

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_CINTERFACEFIXTURE_H
