"""Checks the tables that tools/bench writes, and that each has its place in a page."""

import glob
import json
import re
import unittest

import orchestrator_table
from compare import comparison, rows_of
from google import Runs, parts_of
from page import duration, rate, replaced, table
from sections import SECTIONS, engine_table, live_table, only_tables, sim_table, systems_table


def run(name, time=100.0, **figures):
    return {"name": name, "run_type": "iteration", "cpu_time": time, "real_time": 2 * time, "time_unit": "ns", **figures}


def output(*runs):
    return json.dumps({"context": {}, "benchmarks": runs})


def live_output():
    runs = [run("BM_CachedGet", 95), run("BM_MemoryGet", 83)]
    runs.append(run("BM_Hiredis<Events>/1/real_time", items_per_second=800))
    runs += [run(f"BM_Blocking<redis::{client}>/real_time", items_per_second=900) for client in ("SyncClient", "SyncPool")]
    for server in ("Plain", "Tls", "Cluster", "Sentinels"):
        for depth in (64, 1):
            # The ratios of the repetitions are 1.5, 0.5 and 0.9. What has one repetition is divided by the first.
            for hiredis, own in ((1000, 1500), (2000, 1000), (1000, 900)):
                runs.append(run(f"BM_Hiredis<{server}>/{depth}/real_time", items_per_second=hiredis))
                runs += [run(f"BM_{kind}Coroutines<{server}>/{depth}/real_time", items_per_second=own, allocations=7.06)
                         for kind in ("Spawned", "Standing")]
    return output(*runs)


class TablesTest(unittest.TestCase):
    def test_a_figure_is_the_median_of_the_repetitions(self):
        runs = Runs({"context": {}, "benchmarks": [
            run("BM_A", 3), run("BM_A", 1), run("BM_A", 2), {**run("BM_A_mean", 7), "run_type": "aggregate"}]})
        self.assertEqual(runs.figure("BM_A", "cpu_time"), 2)
        self.assertEqual(list(runs), ["BM_A"])

    def test_a_benchmark_that_failed_is_an_error(self):
        failed = {**run("BM_A"), "error_occurred": True, "error_message": "no value"}
        with self.assertRaisesRegex(ValueError, "BM_A: no value"):
            Runs({"context": {}, "benchmarks": [failed]})

    def test_names_of_the_systems_benchmarks(self):
        self.assertEqual(parts_of("BM_FeedPage<Live>/items:100/real_time"), ("feed page", "Live", "items 100"))
        self.assertEqual(parts_of("BM_InsertEvent<Memory, Form::kHardened>"), ("insert event", "Memory", "hardened"))
        self.assertEqual(parts_of("BM_ConsumeInAGroup<Live>/records:1/real_time"), ("consume in a group", "Live", "records 1"))
        self.assertEqual(parts_of("BM_SearchTasks<Live>/iterations:200/real_time"), ("search tasks", "Live", ""))
        self.assertEqual(parts_of("BM_PyJson"), ("py json", "", ""))

    def test_numbers(self):
        self.assertEqual([duration(ns) for ns in (83.4, 3540, 2.5e6, 3e9)], ["83.4 ns", "3.54 us", "2.5 ms", "3 s"])
        self.assertEqual([rate(number) for number in (12, 17_400, 4.07e6)], ["12", "17.4 k", "4.07 M"])

    def test_engine(self):
        text = engine_table(output(run("BM_RawMapFindAndCopy/1000", 20), run("BM_Get/1000", 50, allocations=1),
                                   run("BM_Incr/1000", 40), run("BM_Set/1000", 60)))
        self.assertIn("| 1,000 | 20.0 | 50.0 | 2.50 | 40.0 | 2.00 | 60.0 | 3.00 | 1.00 |", text)

    def test_live(self):
        text = live_table(live_output())
        self.assertIn("| depth 1 | depth 64 |", text)
        self.assertIn("| TLS on loopback | that await in a loop | 0.90 | 0.90 | 7.1 |", text)
        self.assertIn("reaches 0.80 if each read waits in epoll, as in an event loop. Clients that block, at depth 1: "
                      "`SyncClient` 0.90, `SyncPool` 0.90. A GET from the client's cache takes 95 ns, a typed", text)

    def test_sim(self):
        text = sim_table(output(run("BM_SimulatedCommands/traced:1/split:0", items_per_second=4.07e6),
                                run("BM_SimulatedCommands/traced:0/split:1", items_per_second=2.5e6),
                                run("BM_Schedules/strategy:4/split:0", items_per_second=144_000, label="walk"),
                                run("BM_Schedules/strategy:4/split:1", items_per_second=50_000, label="walk")))
        self.assertIn("| commands, with a trace | 4.07 M |", text)
        self.assertIn("| commands, without a trace, split events | 2.5 M |", text)
        self.assertIn("| schedules of three actors, walk | 144 k |", text)
        self.assertIn("| schedules of three actors, walk, split events | 50 k |", text)

    def test_systems(self):
        rate_check = output(run("BM_RateCheck<Memory>", 532), run("BM_RateCheck<Live>/real_time", 30_000, round_trips=209.96))
        text = systems_table(rate_check)
        self.assertIn("| gateway | rate check | 532 ns | 60 us | 210 |", text)

    def test_other_text_is_left_out(self):
        self.assertEqual(only_tables("text\n| a |\n| --- |\n\nGET\n 1 ### 5 ns\n| b |\n"), "| a |\n| --- |\n\n| b |")

    def test_orchestrator(self):
        runs = []
        for row in orchestrator_table.ROWS:
            for backend, suffix, per_second in (("Memory", "", 2e6), ("Live", "/real_time", 20_000)):
                runs += [run(f"BM_{row}<{backend}>/{batch}{suffix}", items_per_second=per_second * batch,
                             document_per_second=80_000, document_latency_ms=2) for batch in (1, 50)]
            runs.append(run(f"BM_{row}/RedisBenchmark/iterations:1/real_time", per_second=76_400))
        self.assertIn("| apply_delta | 80 k | 76 k | 20 k | 1,000 k | 2,000 k | 100,000 k | below 2 ms | 0.050 ms |",
                      orchestrator_table.table({"benchmarks": runs}))

    def test_the_orchestrators_rows_are_those_of_the_benchmark(self):
        with open("bench/orchestrator_bench.cc", encoding="utf-8") as file:
            rows = re.findall(r'^      \{"(\w+)",', file.read(), re.M)
        self.assertEqual(list(orchestrator_table.ROWS), rows)


class CompareTest(unittest.TestCase):
    @staticmethod
    def pairs(*times):
        return [tuple(Runs({"context": {}, "benchmarks": [run("BM_A", time)]}) for time in pair) for pair in times]

    def test_a_ratio_is_the_median_of_the_pairs(self):
        row, = rows_of(self.pairs((100, 110), (200, 180), (100, 130)))
        self.assertEqual((row.ratio, row.least, row.greatest, row.slower, row.verdict()), (1.1, 0.9, 1.3, 2, ""))

    def test_a_verdict_needs_all_pairs(self):
        self.assertIn("| A | 1.100 | 1.050 | 1.200 | 3 of 3 | slower |",
                      comparison(self.pairs((100, 110), (100, 105), (100, 120))))
        self.assertEqual(rows_of(self.pairs((100, 90), (100, 99)))[0].verdict(), "faster")

    def test_names_that_only_one_build_has_are_left_out(self):
        old, new = ({"context": {}, "benchmarks": [run(name) for name in names]} for names in ("AB", "BC"))
        self.assertEqual([row.name for row in rows_of([(Runs(old), Runs(new))])], ["B"])


class PageTest(unittest.TestCase):
    def test_a_region_is_replaced(self):
        page = "a\n<!-- measured: x -->\n\nold\n\n<!-- end -->\nb\n<!-- measured: y -->\n\nkept\n\n<!-- end -->\n"
        self.assertEqual(replaced(page, "x", "new"), page.replace("old", "new"))
        with self.assertRaisesRegex(ValueError, "0 regions `<!-- measured: z -->`, expected one"):
            replaced(page, "z", "new")

    def test_a_table(self):
        self.assertEqual(table(["a", "b"], [["x", "1"]]), "| a | b |\n| --- | ---: |\n| x | 1 |")

    def test_each_section_has_its_region_and_each_region_its_section(self):
        regions = set()
        for path in glob.glob("docs/**/*.md", recursive=True):
            with open(path, encoding="utf-8") as file:
                regions |= {(path, name) for name in re.findall(r"^<!-- measured: (\w+) -->$", file.read(), re.M)}
        self.assertEqual(regions, {(section.page, section.name) for section in SECTIONS})


if __name__ == "__main__":
    unittest.main()
