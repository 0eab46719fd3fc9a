"""The cost per operation on small tensors, beside PyTorch, in one process and in turns.

    python benchmarks/micro.py            # needs torch and chainrule in one environment

Each row is run by both libraries in paired rounds; the ratio printed is the median of the rounds' ratios, since machines
drift and single times mean little. `import` is timed in fresh interpreters, as a whole.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import torch

import chainrule


def rows(t):
    """Name, goal (ratio to PyTorch), and the work, for one library."""
    t.manual_seed(0)
    x = t.ones(4, 4, requires_grad=True)
    y = t.ones(4, 4, requires_grad=True)
    w = t.zeros(4, 4)
    g = t.ones(4, 4)
    seed = t.ones(2, 2, requires_grad=True)

    def add():
        return x + y

    def scale():
        return x * 2.0

    def mul():
        return x * y

    def tanh():
        return x.tanh()

    def total():
        return x.sum()

    def product():
        return x @ y

    def forward_backward():
        a = seed + 2
        (a * a * 3).mean().backward()

    def chain():
        a = x
        for _ in range(20):
            a = (a + y) * 0.9
        a.sum().backward()

    def update():
        with t.no_grad():
            w.sub_(0.1 * g)

    def slices():
        return x[1:3, 0]

    return [
        ("x + y", 0.6, add, 1),
        ("x * 2.0", 0.6, scale, 1),
        ("x * y", None, mul, 1),
        ("x.tanh()", None, tanh, 1),
        ("x.sum()", None, total, 1),
        ("x @ y", None, product, 1),
        ("x[1:3, 0]", None, slices, 1),
        ("no_grad w -= lr * g", None, update, 1),
        ("seed example, forward and backward", 0.4, forward_backward, 1),
        ("chain of 40 operations, per operation", 0.6, chain, 40),
    ]


def once(work, number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        work()
    return (time.perf_counter() - start) / number


def measure(rounds: int, seconds: float) -> list[dict]:
    torch.set_num_threads(1)
    out = []
    for (name, goal, ours, per), (_, _, theirs, _) in zip(rows(chainrule), rows(torch)):
        once(ours, 50), once(theirs, 50)
        number = max(10, int(seconds / max(once(theirs, 20), 1e-7)))
        pairs = []
        for r in range(rounds):
            first, second = (ours, theirs) if r % 2 else (theirs, ours)
            a, b = once(first, number), once(second, number)
            pairs.append((a, b) if r % 2 else (b, a))
        out.append(
            dict(
                name=name,
                goal=goal,
                ratio=statistics.median(a / b for a, b in pairs),
                chainrule_us=statistics.median(a for a, _ in pairs) / per * 1e6,
                torch_us=statistics.median(b for _, b in pairs) / per * 1e6,
            )
        )
    return out


def import_seconds(module: str, rounds: int = 7) -> float:
    """The median time an interpreter takes to import a module, less what it takes to start."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare = time.perf_counter() - start
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        times.append(time.perf_counter() - start - bare)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of one round of one library")
    parser.add_argument("--json", help="also write the figures to this file")
    args = parser.parse_args()
    found = measure(args.rounds, args.seconds)
    print(f"{'':42}{'chainrule':>11}{'torch':>11}{'ratio':>8}{'goal':>7}")
    for r in found:
        goal = f"{r['goal']:.1f}" if r["goal"] else ""
        print(f"{r['name']:42}{r['chainrule_us']:8.2f} µs{r['torch_us']:8.2f} µs{r['ratio']:8.2f}{goal:>7}")
    seconds = import_seconds("chainrule")
    print(f"import chainrule: {seconds:.3f} s (goal 0.2)")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(dict(rows=found, import_seconds=seconds), f, indent=1)


if __name__ == "__main__":
    main()
