"""Text tests: tools run on small inputs, their output matched by FileCheck."""

import os
import platform
import shutil
import sys
import lit.formats

config.name = "glowish"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "tests", "lit")
config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_bin_dir, os.environ["PATH"]])
config.substitutions.append(("%root", config.source_root))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(
    ("%exits", f"{sys.executable} {config.test_source_root}/exits.py"))
config.substitutions.append(("%cc", config.c_compiler))
config.substitutions.append(("%cxx", config.cxx_compiler))
if config.sanitize:
    config.available_features.add("asan")
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0"
if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("host-x86_64")
if os.path.exists(os.path.join(config.build_dir, "lib/glowish/libglowish-torch.so")):
    config.available_features.add("torchscript")
if shutil.which("mlir-opt-19") and shutil.which("mlir-cpu-runner-19"):
    config.available_features.add("mlir")
if shutil.which("s390x-linux-gnu-gcc") and shutil.which("qemu-s390x"):
    config.available_features.add("s390x")
if os.geteuid() != 0:
    config.available_features.add("not-root")
