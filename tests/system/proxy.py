#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A line between two machines: delays what passes, loses some of it for a while, breaks or falls silent on request.

proxy.py PORT [--delay MS] [--loss PERCENT]: tells the port that it listens on; hands on to PORT of this machine. On
SIGUSR1 all connections break; on SIGUSR2 they fall silent, but stay open, and new ones are as before.
What a lossy line loses comes again after 200 ms, as TCP has it.
"""
import argparse
import asyncio
import random
import signal

options = argparse.ArgumentParser()
options.add_argument("port", type=int)
options.add_argument("--delay", type=float, default=0)
options.add_argument("--loss", type=float, default=0)
options = options.parse_args()


async def carry(reader, writer, line):
    queue = asyncio.Queue()
    loop = asyncio.get_running_loop()

    async def deliver():
        while (item := await queue.get()) is not None:
            due, data = item
            await asyncio.sleep(max(0, due - loop.time()))
            if line["silent"]:
                continue
            writer.write(data)
            await writer.drain()
        writer.close()

    task = asyncio.create_task(deliver())
    try:
        while data := await reader.read(65536):
            late = 200 if random.random() * 100 < options.loss else 0
            queue.put_nowait((loop.time() + (options.delay + late) / 1000, data))
    except OSError:
        pass
    queue.put_nowait(None)
    try:
        await task
    except OSError:
        pass


async def connect(reader, writer):
    try:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", options.port)
    except OSError:
        writer.close()
        return
    line = {"silent": False, "writers": (writer, far_writer)}
    known[id(line)] = line
    await asyncio.gather(carry(reader, far_writer, line), carry(far_reader, writer, line))
    known.pop(id(line), None)


known = {}


def tear():
    for line in list(known.values()):
        for writer in line["writers"]:
            writer.transport.abort()


def silence():
    for line in known.values():
        line["silent"] = True


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, tear)
    loop.add_signal_handler(signal.SIGUSR2, silence)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
