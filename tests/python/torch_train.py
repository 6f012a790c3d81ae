# SPDX-License-Identifier: MIT
"""An unmodified PyTorch trains: torch_train.py WORKERS plain|profiled. Nothing marks its steps.

The simulated device does not compute PyTorch's kernels: no number that it returns is looked at.
"""
import sys
import warnings

STEPS = 120
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import torch
    from torch.utils.data import DataLoader, TensorDataset


def make_net():
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))


def train_step(net, optimizer, images, labels):
    images = images.to("cuda")  # images
    labels = labels.to("cuda")  # labels
    loss = torch.nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()  # waits here


def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for images, labels in loader:
        train_step(net, optimizer, images, labels)


def main():
    if not torch.cuda.is_available():
        print("no device")
        return
    torch.manual_seed(1)
    data = TensorDataset(torch.rand(STEPS * 8, 64), torch.randint(10, (STEPS * 8,)))
    loader = DataLoader(data, batch_size=8, num_workers=int(sys.argv[1]))
    net = make_net().to("cuda")
    if sys.argv[2] == "profiled":
        with torch.profiler.profile() as profile:
            train(net, loader)
        print("profiled %s" % (len(profile.events()) > STEPS))
    else:
        train(net, loader)
    print("%d steps" % STEPS)


if __name__ == "__main__":
    main()
