"""The table of throughput of docs/systems/orchestrator.md: the document's numbers beside measured ones.

The document's numbers are counters of the benchmark.
"""

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
    lines = [HEAD.strip("\n")]
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
    return "\n".join(lines)
