#!/usr/bin/env python3
"""resources.py COMMAND...: runs it; prints the seconds that it took and its peak
resident memory in bytes, as JSON. Exits with its code."""
import json
import os
import sys
import time


def run_measured(command):
    """Seconds, peak resident bytes, and the exit code."""
    start = time.monotonic()
    child = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(child, 0)
    return (time.monotonic() - start, 1024 * usage.ru_maxrss,
            os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    seconds, peak, code = run_measured(sys.argv[1:])
    print(json.dumps({"seconds": seconds, "peak": peak}))
    sys.exit(code)
