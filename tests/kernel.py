#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Carries out the kernel that the library brings, as PTX text, and compares with the host's sums.

	kernel.py UNIT_PROGRAM [PTXAS]

Knows the instructions that this text uses, no others. The threads of a warp run until all wait at
the same shuffle. With PTXAS the text is assembled too, for the oldest architecture it knows.
"""
import operator
import re
import subprocess
import sys
import tempfile

TWO = {"add": operator.add, "sub": operator.sub, "min": min, "and": operator.and_,
       "or": operator.or_, "shl": operator.lshift, "shr": operator.rshift}



class Thread:
    def __init__(self, warp_thread, block, parameters):
        self.registers = {"%tid.x": warp_thread, "%ctaid.x": block}
        self.parameters = parameters
        self.at = 0
        self.done = False


class Kernel:
    def __init__(self, text):
        body = text[text.index("{") + 1:text.rindex("}")]
        self.code, self.labels = [], {}
        for line in body.splitlines():
            line = line.strip().rstrip(";")
            if not line or line.startswith(".reg"):
                continue
            if line.endswith(":"):
                self.labels[line[:-1]] = len(self.code)
                continue
            match = re.match(r"(?:@(%\w+) )?([\w.]+)\s*(.*)", line)
            operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", match[3])
            self.code.append((match[1], match[2].split("."), operands))

    def value(self, thread, operand, width):
        if operand.startswith("%"):
            return thread.registers[operand] & ((1 << width) - 1)
        return int(operand, 0) & ((1 << width) - 1)

    def address(self, thread, operand):
        name, _, offset = operand.strip("[]").partition("+")
        return thread.registers[name] + int(offset or 0)

    def step(self, thread, memory):
        """One instruction; the operands of a shuffle that it waits at."""
        predicate, name, operands = self.code[thread.at]
        thread.at += 1
        if predicate and not thread.registers[predicate]:
            return None
        width = int(re.sub(r"\D", "", name[-1]) or 0)
        mask = (1 << width) - 1
        registers = thread.registers
        get = lambda i, bits=width: self.value(thread, operands[i], bits)
        kind = name[0]
        if kind == "ret":
            thread.done = True
        elif kind == "bra":
            thread.at = self.labels[operands[0]]
        elif kind == "shfl":
            thread.at -= 1
            return operands
        elif kind == "ld" and name[1] == "param":
            registers[operands[0]] = thread.parameters[operands[1].strip("[]")]
        elif kind == "ld":
            start = self.address(thread, operands[1])
            if start % (width // 8):
                raise ValueError("misaligned load at %d" % start)
            registers[operands[0]] = int.from_bytes(memory[start:start + width // 8], "little")
            if start + width // 8 > len(memory):
                raise ValueError("load behind the end")
        elif kind == "st":
            start = self.address(thread, operands[0])
            memory[start:start + width // 8] = get(1).to_bytes(width // 8, "little")
        elif kind == "mov" and operands[0].startswith("{"):
            low, high = re.findall(r"%\w+", operands[0])
            registers[low], registers[high] = get(1) & 0xffffffff, get(1) >> 32
        elif kind == "mov" and operands[1].startswith("{"):
            low, high = re.findall(r"%\w+", operands[1])
            registers[operands[0]] = registers[low] | registers[high] << 32
        elif kind in ("mov", "cvta"):
            registers[operands[0]] = get(1)
        elif kind == "cvt":
            registers[operands[0]] = get(1) & ((1 << int(name[1][1:])) - 1)
        elif kind == "setp":
            a, b = get(1), get(2)
            registers[operands[0]] = {"ge": a >= b, "le": a <= b, "ne": a != b}[name[1]]
        elif kind == "mul" and name[1] == "wide":
            registers[operands[0]] = get(1) * get(2)
        elif kind == "mad" and name[1] == "wide":
            registers[operands[0]] = (get(1) * get(2) + get(3, 64)) & (1 << 64) - 1
        elif kind in TWO:
            registers[operands[0]] = TWO[kind](get(1), get(2)) & mask
        else:
            raise ValueError("unknown instruction " + ".".join(name))
        return None

    def warp(self, threads, memory):
        while True:
            waiting = []
            for thread in threads:
                operands = None
                while not thread.done and operands is None:
                    operands = self.step(thread, memory)
                waiting.append(None if thread.done else operands)
            if all(w is None for w in waiting):
                return
            if None in waiting or len({t.at for t in threads}) != 1:
                raise ValueError("a shuffle that not all threads of the warp reach")
            # down: from the thread so far above, its own at the end of the warp
            target, source, distance = waiting[0][0], waiting[0][1], waiting[0][2]
            far = threads[0].registers[distance]
            values = [t.registers[source] for t in threads]
            for i, thread in enumerate(threads):
                thread.registers[target] = values[i + far] if i + far < 32 else values[i]
                thread.at += 1


def check(kernel, data, key, sums):
    blocks = (len(data) + 4095) // 4096
    room = (len(data) + 31) // 32 * 32
    # The last byte of the data is the last that may be read there: loads beyond it would see this.
    memory = bytearray(data + b"\xff" * (room - len(data)) + key + b"\0" * (-len(key) % 32))
    out = len(memory)
    memory += b"\xee" * (32 * blocks + 64)
    parameters = {"pdata": 0, "pbytes": len(data), "pkey": room, "pout": out}
    for block in range((blocks + 3) // 4):
        for warp in range(4):
            kernel.warp([Thread(warp * 32 + lane, block, parameters) for lane in range(32)], memory)
    got = [int.from_bytes(memory[out + 8 * i:out + 8 * i + 8], "little") for i in range(4 * blocks)]
    if got != sums:
        print("FAILED: %d bytes: %s, not %s" % (len(data), got, sums))
        return False
    if memory[out + 32 * blocks:] != b"\xee" * 64:
        print("FAILED: %d bytes: written behind the sums" % len(data))
        return False
    return True


def main():
    text, _, cases = subprocess.run([sys.argv[1], "cases"], check=True, capture_output=True,
                                    text=True).stdout.partition("\n%%\n")
    kernel, good, count, case = Kernel(text), True, 0, {}
    for line in cases.splitlines():
        name, _, value = line.partition(" ")
        case[name] = value
        if name == "sums":
            good &= check(kernel, bytes.fromhex(case["data"]), bytes.fromhex(case["key"]),
                          [int(word) for word in value.split()])
            count += 1
    if len(sys.argv) > 2:
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(text)
            file.flush()
            good &= subprocess.run([sys.argv[2], "-arch=sm_75", file.name, "-o",
                                    "/dev/null"]).returncode == 0
    print("%d cases%s" % (count, ", assembled" if len(sys.argv) > 2 else ""))
    return 0 if good and count > 0 else 1


sys.exit(main())
