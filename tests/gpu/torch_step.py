# SPDX-License-Identifier: MIT
"""A small convolution net in PyTorch, trained for some steps: to be run under the shim.
--profile: PyTorch's profiler watches the last half of the steps."""
import sys
import time

import torch

STEPS = 600
torch.manual_seed(1)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 8, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(8, 16, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(256, 10)).cuda()
optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
images = torch.rand(256, 1, 28, 28)
labels = torch.randint(0, 10, (256,))
times = []
profiler = None
for step in range(STEPS):
    if step == STEPS // 2 and "--profile" in sys.argv[1:]:
        profiler = torch.profiler.profile(activities=[
            torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA])
        profiler.start()
    start = time.perf_counter()
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(images.cuda()), labels.cuda())
    loss.backward()
    optimiser.step()
    loss.item()
    times.append(time.perf_counter() - start)
if profiler:
    profiler.stop()
    kernels = sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profiler.events())
    print(f"profiler: {kernels} device events")
times = sorted(times[STEPS * 2 // 3:])
print(f"time: step {times[len(times) // 2] * 1e3:.4f} ms, loss {loss.item():.9f}")
