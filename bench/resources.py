#!/usr/bin/env python3
"""resources.py COMMAND...: runs it; prints the seconds that it took and its peak
resident memory in bytes, as JSON. Exits with its code."""
import json
import os
import sys
import time

start = time.monotonic()
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(json.dumps({"seconds": time.monotonic() - start,
                  "peak": 1024 * usage.ru_maxrss}))
sys.exit(os.waitstatus_to_exitcode(status))
