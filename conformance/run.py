"""chainrule held against PyTorch's own table of operations (`op_db`).

python conformance/run.py                        every operation in scope; writes report.json and docs/operations.md
python conformance/run.py --only softmax,mm -v   some, with every difference found
"""

import argparse
import json
import multiprocessing
import pathlib
import sys
import tomllib
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

KINDS = ("forward", "layout", "nodes", "vjp", "second", "errors", "variants")
NEEDED = {"forward": 98, "vjp": 97, "second": 95, "errors": 90}


def entries() -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return op_db


def name_of(info) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


def scope() -> dict[str, str]:
    """The names that are left out, each with its reason."""
    data = tomllib.loads((ROOT / "conformance" / "scope.toml").read_text())
    return {name: group["reason"] for group in data["excluded"] for name in group["names"]}


def work(job: tuple) -> tuple:
    from conformance.operations.examine import examine

    index, samples = job
    info = entries()[index]
    try:
        return name_of(info), examine(info, samples=samples)
    except BaseException as error:  # the checker itself failed: say so and go on
        return name_of(info), {
            "missing": False,
            "counts": {k: [0, 1] for k in KINDS},
            "failed": repr(error),
            "differences": {},
        }


def agrees(result, kind: str) -> bool | None:
    """Whether all samples agree; None where there were none."""
    good, tried = result["counts"][kind]
    return None if not tried and not result["missing"] else bool(tried) and good == tried


def summary(results: dict) -> dict[str, tuple[int, int]]:
    out = {}
    for kind in KINDS:
        if kind in ("errors", "variants"):  # counted one by one
            counts = [r["counts"][kind] for r in results.values()]
            out[kind] = sum(c[0] for c in counts), sum(c[1] for c in counts)
            continue
        found = [agrees(r, kind) for r in results.values()]
        found = [f for f in found if f is not None]
        out[kind] = sum(found), len(found)
    return out


def table(results: dict, totals: dict) -> str:
    lines = [
        "# Operations",
        "",
        "Every operation of PyTorch's own table that runs on the CPU, held against PyTorch 2.13 on its sample inputs, in",
        "float32, float64, complex128, int64 and bool where it takes them. A number pair is samples that agree / samples",
        "tried. Written by `python conformance/run.py`; `conformance/scope.toml` says what is left out and why.",
        "",
        "| | agree | of | |", "|---|---|---|---|",
    ]  # fmt: skip
    for kind, (good, tried) in totals.items():
        lines.append(f"| {kind} | {good} | {tried} | {100 * good / max(tried, 1):.1f} % |")
    lines += [
        "",
        "| operation | forward | vjp | second order | errors | variants | first difference |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, result in sorted(results.items()):
        cells = [_cell(result, k) for k in ("forward", "vjp", "second", "errors", "variants")]
        cause = (
            "missing" if result["missing"] else next((d[0] for k in KINDS if (d := result["differences"].get(k))), "")
        )
        cause = cause.replace("|", "\\|").replace("\n", " ")[:120]
        lines.append(f"| {name} | {' | '.join(cells)} | {cause} |")
    return "\n".join(lines) + "\n"


def _cell(result, kind: str) -> str:
    good, tried = result["counts"][kind]
    return "" if not tried else f"{good}" if good == tried else f"**{good}/{tried}**"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names, separated by commas; a trailing * stands for anything")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the differences")
    parser.add_argument("--kind", choices=KINDS, help="print differences of this kind alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--samples", type=int, default=60, help="at most so many samples for each dtype")
    options = parser.parse_args()
    excluded = scope()
    chosen = []
    for i, info in enumerate(entries()):
        name = name_of(info)
        if options.only:
            if not any(
                name == o or info.name == o or o.endswith("*") and name.startswith(o[:-1])
                for o in options.only.split(",")
            ):
                continue
        elif name in excluded or info.name in excluded:
            continue
        chosen.append((i, options.samples))
    results = {}
    with multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=20) as pool:
        for name, result in pool.imap_unordered(work, chosen):
            results[name] = result
            if options.verbose:
                show(name, result, options.kind)
    totals = summary(results)
    for kind, (good, tried) in totals.items():
        needed = f"  (goal {NEEDED[kind]} %)" if kind in NEEDED else ""
        print(f"{kind:8} {good:5} of {tried:5}  {100 * good / max(tried, 1):5.1f} %{needed}")
    print("missing:", " ".join(sorted(n for n, r in results.items() if r["missing"])) or "none")
    if not options.only and options.samples >= 60:
        report = {"totals": totals, "operations": dict(sorted(results.items()))}
        (ROOT / "conformance" / "report.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
        (ROOT / "docs" / "operations.md").write_text(table(results, totals))
    return 0


def show(name: str, result: dict, kind: str | None) -> None:
    if result["missing"]:
        print(f"{name}: missing", flush=True)
    if "failed" in result:
        print(f"{name}: {result['failed']}", flush=True)
    for k, found in result["differences"].items():
        if kind in (None, k):
            print(f"{name} [{k} {result['counts'][k][0]}/{result['counts'][k][1]}]", *found, sep="\n    ", flush=True)


if __name__ == "__main__":
    sys.exit(main())
