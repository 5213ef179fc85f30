#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wire between this machine and a network namespace: delays every packet, and loses some for good.

wire.py NAMESPACE [--delay MS] [--loss PERCENT]: says "ready" and the address of the end in the namespace, and on SIGTERM how many packets
passed and were lost. Needs root and /dev/net/tun; the kernel need not have netem.
"""
import argparse
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time

TUNSETIFF, TUN, NO_HEADER = 0x400454CA, 1, 0x1000
options = argparse.ArgumentParser()
options.add_argument("namespace")
options.add_argument("--delay", type=float, default=0)
options.add_argument("--loss", type=float, default=0)
options = options.parse_args()


def end(name, address, inside):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), TUN | NO_HEADER))
    if inside:
        subprocess.run(["ip", "link", "set", name, "netns", options.namespace], check=True)
    ip = ["ip", "-n", options.namespace] if inside else ["ip"]
    subprocess.run(ip + ["addr", "add", address, "dev", name], check=True)
    subprocess.run(ip + ["link", "set", name, "up"], check=True)
    return fd


def stop(*_):
    print(f"passed {passed} lost {lost}", flush=True)
    sys.exit(0)


pid = os.getpid()
net, first = f"10.77.{pid >> 6 & 255}", (pid & 63) * 4
here, there = end(f"wire{pid}", f"{net}.{first + 1}/30", False), end(f"wire{pid}b", f"{net}.{first + 2}/30", True)
other = {here: there, there: here}
rng = random.Random(1)
waiting, count, passed, lost = [], 0, 0, 0
signal.signal(signal.SIGTERM, stop)
print(f"ready {net}.{first + 2}", flush=True)
while True:
    left = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    for fd in select.select([here, there], [], [], left)[0]:
        packet = os.read(fd, 65536)
        if rng.random() * 100 < options.loss:
            lost += 1
            continue
        count += 1
        heapq.heappush(waiting, (time.monotonic() + options.delay / 1000, count, other[fd], packet))
    while waiting and waiting[0][0] <= time.monotonic():
        to, packet = heapq.heappop(waiting)[2:]
        passed += 1
        try:
            os.write(to, packet)
        except OSError:
            lost += 1
