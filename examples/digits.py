"""Learn to read handwritten digits with tensors and autograd alone: no modules, no optimiser.

Needs scikit-learn for its bundled digits (1797 pictures of 8 by 8 pixels) and tqdm for the progress bar.
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from tqdm import tqdm

torch.manual_seed(0)

digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16
labels = torch.tensor(digits.target)

order = torch.randperm(len(images))
train, test = order[:1437], order[1437:]

# Two layers, 64 pixels -> 64 -> 10 digits, with weights that keep the size of what passes through them.
w1 = (torch.randn(64, 64) / 32**0.5).requires_grad_()
b1 = torch.zeros(64, requires_grad=True)
w2 = (torch.randn(64, 10) / 32**0.5).requires_grad_()
b2 = torch.zeros(10, requires_grad=True)
parameters = [w1, b1, w2, b2]
print(f"{len(train)} pictures to learn from, {len(test)} to test on, {sum(p.numel() for p in parameters)} parameters")


def model(x):
    return F.relu(x @ w1 + b1) @ w2 + b2


progress = tqdm(range(30), desc="learning", unit=" epochs")
for _ in progress:
    for batch in train[torch.randperm(len(train))].split(32):
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= 0.2 * p.grad
                p.grad = None
    progress.set_postfix(loss=f"{loss.item():.4f}")

with torch.no_grad():
    guesses = model(images[test]).argmax(dim=1)
    right = (guesses == labels[test]).sum().item()
print(f"test accuracy: {right} of {len(test)} = {right / len(test):.1%}")
