# SPDX-License-Identifier: MIT
"""A training loop in Python: python_train.py pageable|pinned. Nothing but the loop tells its steps."""
import ctypes
import sys

from settle import settle

SIDE = 64
STEPS = 120
BYTES = 1 << 20
ONE = ctypes.c_float(1)
cuda = ctypes.CDLL("libcudart.so.13")
blas = ctypes.CDLL("libcublas.so.13")
host = ctypes.c_void_p()
device = {name: ctypes.c_void_p() for name in ("images", "weights", "gradients")}
handle = ctypes.c_void_p()


def load(batch):
    cuda.cudaMemcpyAsync(device["images"], host, ctypes.c_size_t(BYTES), 1, None)  # copied here
    return batch


class Net:
    def forward(self):
        multiply(device["images"], device["weights"])

    def backward(self):
        multiply(device["weights"], device["images"])


def multiply(one, other):
    blas.cublasSgemm_v2(handle, 0, 0, SIDE, SIDE, SIDE, ctypes.byref(ONE), one, SIDE, other, SIDE,
                        ctypes.byref(ONE), device["gradients"], SIDE)


def train_step(net, batch):
    load(batch)
    net.forward()
    net.backward()
    blas.cublasSaxpy_v2(handle, SIDE * SIDE, ctypes.byref(ONE), device["gradients"], 1, device["weights"], 1)
    cuda.cudaDeviceSynchronize()  # waits here


def prepare():
    for memory in device.values():
        cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(BYTES))
        cuda.cudaMemset(memory, 0, ctypes.c_size_t(BYTES))
    blas.cublasCreate_v2(ctypes.byref(handle))
    if sys.argv[1] == "pinned":
        cuda.cudaMallocHost(ctypes.byref(host), ctypes.c_size_t(BYTES))
    else:
        host.value = ctypes.addressof(pageable)


def main():
    prepare()
    settle()
    net = Net()
    for batch in range(STEPS):
        train_step(net, batch)
    print("%d steps" % STEPS)


pageable = ctypes.create_string_buffer(BYTES)
main()
