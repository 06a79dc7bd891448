"""Writes the table of throughput into docs/systems/orchestrator.md: the document's numbers beside measured ones.

    bazel run --config=opt //bench:orchestrator -- --benchmark_out=/tmp/orchestrator.json --benchmark_out_format=json
    python3 bench/tables/orchestrator_table.py /tmp/orchestrator.json

The document's numbers are counters of the benchmark. Measure on a quiet machine; the load is written below the table.
"""

import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs/systems/orchestrator.md")
BEGIN, END = "<!-- measured: throughput -->\n", "<!-- end -->"
HEAD = """
| operation | document | redis-benchmark, 50 connections | live, one at a time | live, pipelines of 50 | in memory, one at a time | in memory, pipelines of 50 | latency: document | latency: live, mean |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""

# By their names in orchestrator_bench.cc. The repeated operation is no row of the document.
ROWS = {
    "GetIr": "GET of an IR of 12 kB",
    "HSet": "HSET of a context's field",
    "IncrBy": "INCRBY of a counter",
    "SAdd": "SADD to an applied set",
    "ApplyDelta": "apply_delta",
    "ApplyDeltaAgain": "apply_delta, repeated operation",
    "XAdd": "XADD to a task stream",
    "RPush": "RPUSH of a signal",
}


def table(measured):
    """The text between the two markers."""
    runs = {run["name"]: run for run in measured["benchmarks"]}
    lines = [HEAD.rstrip("\n")]
    for name, operation in ROWS.items():
        live = runs[f"BM_{name}<Live>/1/real_time"]
        rates = [
            live["document_per_second"],
            runs[f"BM_{name}/RedisBenchmark/iterations:1/real_time"]["per_second"],
            live["items_per_second"],
            runs[f"BM_{name}<Live>/50/real_time"]["items_per_second"],
            runs[f"BM_{name}<Memory>/1"]["items_per_second"],
            runs[f"BM_{name}<Memory>/50"]["items_per_second"],
        ]
        cells = [f"{rate / 1000:,.0f} k" for rate in rates]
        cells.append(f"below {live['document_latency_ms']:.0f} ms")
        cells.append(f"{1000 / live['items_per_second']:.3f} ms")
        lines.append(f"| {operation} | " + " | ".join(cells) + " |")
    context = measured["context"]
    load = ", ".join(f"{load:.1f}" for load in context["load_avg"])
    lines.append(f"\n{context['date'][:10]}, {context['num_cpus']} cores, load {load}.\n\n")
    return "\n".join(lines)


def main(path):
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    page, count = pattern.subn(lambda _: BEGIN + table(measured) + END, page)
    if count != 1:
        sys.exit(f"{PAGE} has {count} tables of throughput")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main(sys.argv[1])
