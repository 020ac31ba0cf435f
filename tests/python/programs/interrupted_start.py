# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 gets a SIGINT while it waits for rank 0, which does not come, at the start of the job."""

import os
import signal
import sys
import threading
import time

import tutti

signal.signal(signal.SIGINT, signal.default_int_handler)
if os.environ["TUTTI_RANK"] == "0":
    time.sleep(60)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tutti.world()
except KeyboardInterrupt:
    sys.exit(7)
