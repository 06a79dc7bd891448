"""Checks the table of throughput that orchestrator_table.py writes."""

import re
import unittest

import orchestrator_table


def run(name, **counters):
    return {"name": name, **counters}


def measured():
    runs = []
    for row in orchestrator_table.ROWS:
        for backend, suffix, rate in (("Memory", "", 2e6), ("Live", "/real_time", 20_000)):
            runs += [run(f"BM_{row}<{backend}>/{batch}{suffix}", items_per_second=rate * batch,
                         document_per_second=80_000, document_latency_ms=2) for batch in (1, 50)]
        runs.append(run(f"BM_{row}/RedisBenchmark/iterations:1/real_time", per_second=76_400))
    return {"benchmarks": runs, "context": {"date": "2026-11-28T10:00:00+00:00", "num_cpus": 2, "load_avg": [0.1, 0.2, 0.3]}}


class OrchestratorTableTest(unittest.TestCase):
    def test_puts_the_document_beside_what_was_measured(self):
        self.assertIn("| apply_delta | 80 k | 76 k | 20 k | 1,000 k | 2,000 k | 100,000 k | below 2 ms | 0.050 ms |",
                      orchestrator_table.table(measured()))
        self.assertIn("\n2026-11-28, 2 cores, load 0.1, 0.2, 0.3.\n", orchestrator_table.table(measured()))

    def test_has_the_rows_of_the_benchmark(self):
        with open("bench/orchestrator_bench.cc", encoding="utf-8") as file:
            benchmark = file.read()
        rows = re.findall(r'^      \{"(\w+)",', benchmark, re.M)
        self.assertEqual(list(orchestrator_table.ROWS), rows)


if __name__ == "__main__":
    unittest.main()
