#!/usr/bin/python3
"""check_onnx.py FILE...: has onnx.checker check models fully, with
inference of shapes. Prints what is wrong, and exits 1 if anything is.
"""
import sys

import onnx.checker


def main():
    wrong = 0
    for path in sys.argv[1:]:
        try:
            onnx.checker.check_model(path, full_check=True)
        except Exception as error:  # pylint: disable=broad-except
            wrong += 1
            print(f"{path}: {error}", file=sys.stderr)
    if wrong:
        print(f"{wrong} of {len(sys.argv) - 1} models are wrong",
              file=sys.stderr)
    print(f"{len(sys.argv) - 1 - wrong} models checked", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
