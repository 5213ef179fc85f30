#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the conformance vectors: make.py [FOLDER], by default beside this script. See README.md."""
import importlib
import pathlib
import sys

sys.dont_write_bytecode = True
FAMILIES = ['elementwise', 'compare', 'reduce', 'move', 'conv', 'pool', 'norm', 'matrix', 'lookup', 'recurrent',
            'sequence', 'quantized_lstm', 'boxes', 'roi', 'multinomial', 'control']


def main():
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    spec = importlib.import_module('vectors.spec')
    for family in FAMILIES:
        out = spec.File()
        importlib.import_module(f'vectors.{family}').cases(out)
        (folder / f'{family}.jsonl').write_bytes(''.join(out.lines).encode())


if __name__ == '__main__':
    main()
