# SPDX-License-Identifier: MIT
"""A training in JAX: compiled as a whole, its parameters stay on the device; the batch is sent in each
step. jax_step.py [STEPS] prints the time of a step and the last loss, whole."""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
random = np.random.default_rng(1)
sizes = [784, 1024, 1024, 10]
net = [(jnp.array(random.standard_normal((m, n), np.float32) * m ** -0.5), jnp.zeros(n))
       for m, n in zip(sizes, sizes[1:])]
images = random.random((512, 784), np.float32)
labels = random.integers(0, 10, 512)


def loss_of(net, x, y):
    for weights, bias in net[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    x = x @ net[-1][0] + net[-1][1]
    return -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(len(y)), y])


@jax.jit
def step_of(net, x, y):
    loss, slopes = jax.value_and_grad(loss_of)(net, x, y)
    return loss, jax.tree.map(lambda p, g: p - 0.05 * g, net, slopes)


times = []
for step in range(STEPS):
    start = time.perf_counter()
    loss, net = step_of(net, images, labels)
    loss.block_until_ready()
    times.append(time.perf_counter() - start)
rest = sorted(times[STEPS // 2:])
print(f"time: step {rest[len(rest) // 2] * 1e3:.4f} ms, loss {float(loss).hex()}")
