# SPDX-License-Identifier: MIT
"""Trainings in PyTorch as people write them: torch_models.py NAME [STEPS] prints the time of a step
and the last loss, whole. torch_models.py judge NAME REPORT.json says where the report is not as
EXPECT has it; torch_models.py names, which there are."""
import json
import sys
import time

# Which rules are to be found, and which are not.
EXPECT = {
    "pictures": ({"TFS101", "TFS105", "TFS203"}, {"TFS603", "TFS303", "TFS701"}),
    "pictures-plain": ({"TFS101", "TFS105", "TFS203", "TFS603"}, {"TFS303", "TFS701"}),
    "pictures-good": ({"TFS105"}, {"TFS101", "TFS203", "TFS603", "TFS606", "TFS701"}),
    "loader": ({"TFS701"}, {"TFS101", "TFS203", "TFS603"}),
    "words": ({"TFS603"}, {"TFS101", "TFS203", "TFS303", "TFS306", "TFS701"}),
    "words-naive": ({"TFS603"}, {"TFS101", "TFS203", "TFS701"}),
    "words-half": (set(), {"TFS101", "TFS203", "TFS303", "TFS306", "TFS603", "TFS701"}),
    "words-graph": (set(), {"TFS101", "TFS203", "TFS302", "TFS303", "TFS306", "TFS603", "TFS701"}),
}
if len(sys.argv) > 1 and sys.argv[1] == "names":
    sys.exit(print(*EXPECT))
if len(sys.argv) > 3 and sys.argv[1] == "judge":
    with open(sys.argv[3], encoding="utf-8") as report:
        found = {finding["id"] for finding in json.load(report)["findings"]}
    wanted, unwanted = EXPECT[sys.argv[2]]
    for rule in sorted(wanted - found):
        print(f"{rule} is not found")
    for rule in sorted(unwanted & found):
        print(f"{rule} is found")
    sys.exit(0)

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

torch.manual_seed(1)


class Residual(nn.Module):
    def __init__(self, maps):
        super().__init__()
        self.first = nn.Conv2d(maps, maps, 3, padding=1)
        self.first_norm = nn.BatchNorm2d(maps)
        self.second = nn.Conv2d(maps, maps, 3, padding=1)
        self.second_norm = nn.BatchNorm2d(maps)

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(x + self.second_norm(self.second(y)))


def convnet():
    return nn.Sequential(
        nn.Conv2d(3, 128, 3, padding=1), *(Residual(128) for _ in range(6)),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).cuda()


class Block(nn.Module):
    def __init__(self, width, heads, naive):
        super().__init__()
        self.heads, self.naive = heads, naive
        self.norm, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, time_, width = x.shape
        q, k, v = (part.view(batch, time_, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, dim=2))
        if self.naive:
            scores = (q @ k.transpose(2, 3)) * (width // self.heads) ** -0.5
            hidden = torch.ones(time_, time_, device=x.device).triu(1).bool()
            y = F.softmax(scores.masked_fill(hidden, float("-inf")), dim=3) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, time_, width))
        return x + self.narrow(F.gelu(self.wide(self.norm_out(x))))


class Words(nn.Module):
    def __init__(self, naive, width=512, layers=6, words=4096):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, 8, naive) for _ in range(layers)))
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.blocks(self.embedding(x)))


class Pictures(torch.utils.data.Dataset):
    """Decoded slowly, on the host."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        picture = torch.full((3, 32, 32), (i % 251) / 251)
        end = time.perf_counter() + 0.002
        while time.perf_counter() < end:
            picture = picture.roll(1, 2)
        return picture, i % 10


def train(step_of, steps):
    times = []
    loss = None
    for step in range(steps):
        start = time.perf_counter()
        loss = step_of(step)
        if step % 10 == 9:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    rest = times[steps // 2:]
    print(f"time: step {sum(rest) / len(rest) * 1e3:.4f} ms, loss {loss.item().hex()}")


def pictures(steps, allow_tf32=True, good=False):
    """Convolutions of floats; with `good` bfloat16, channels last, pinned input, asynchronous."""
    torch.backends.cudnn.allow_tf32 = allow_tf32
    torch.backends.cudnn.benchmark = good
    layout = torch.channels_last if good else torch.contiguous_format
    net = convnet().to(memory_format=layout)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    images = torch.rand(64, 3, 32, 32).contiguous(memory_format=layout)
    labels = torch.randint(0, 10, (64,))
    if good:
        images, labels = images.pin_memory(), labels.pin_memory()

    def step_of(_):
        optimiser.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=good):
            loss = F.cross_entropy(net(images.to("cuda", non_blocking=good)),
                                   labels.to("cuda", non_blocking=good))
        loss.backward()
        optimiser.step()
        if not good:
            loss.item()
        return loss
    train(step_of, steps)


def loader(steps):
    """The same net, small, fed by two processes that cannot keep up."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=16, num_workers=2, pin_memory=True))

    def step_of(_):
        images, labels = next(batches)
        optimiser.zero_grad()
        loss = F.cross_entropy(net(images.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
        loss.backward()
        optimiser.step()
        return loss
    train(step_of, steps)


def words(steps, naive=False, autocast=False, graph=False):
    """A transformer; naive: attention by hand, and parameters updated one by one."""
    net = Words(naive).cuda()
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, foreach=not naive, capturable=graph)
    tokens = torch.randint(0, 4096, (8, 257), device="cuda")

    def step_of(_):
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            loss = F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimiser.step()
        return loss
    if not graph:
        train(step_of, steps)
        return
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for step in range(3):
            step_of(step)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        loss = step_of(0)

    def replay(_):
        captured.replay()
        return loss
    train(replay, steps)


MODELS = {
    "pictures": pictures,
    "pictures-plain": lambda steps: pictures(steps, allow_tf32=False),
    "pictures-good": lambda steps: pictures(steps, good=True),
    "loader": loader,
    "words": words,
    "words-naive": lambda steps: words(steps, naive=True),
    "words-half": lambda steps: words(steps, autocast=True),
    "words-graph": lambda steps: words(steps, autocast=True, graph=True),
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in MODELS:
        sys.exit(f"usage: torch_models.py {'|'.join(MODELS)} [STEPS]")
    MODELS[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 200)
