"""What tools/bench measures: the commands of each section, and the table that is written from their output."""

import dataclasses
import json
import re
import typing

import orchestrator_table
from google import Runs, parts_of
from page import duration, rate, table

PAGE = "docs/benchmarks.md"
SYSTEMS = ("gateway", "relayna", "studio", "korvet", "threescale")


@dataclasses.dataclass(frozen=True)
class Section:
    name: str
    targets: tuple
    # Run from the root of the repository, one after another. `{bin}` is bazel-bin, `{out}` a file for the output;
    # without it the output is what the command prints.
    commands: tuple
    # The text of the section, from the outputs of its commands.
    table: typing.Callable
    page: str = PAGE


def of_program(name, *options):
    """The command of a Google Benchmark program."""
    return (f"{{bin}}/bench/{name}", "--benchmark_out={out}", "--benchmark_out_format=json", *options)


def runs_of(output):
    return Runs(json.loads(output))


def engine_table(output):
    runs = runs_of(output)
    sizes = [int(name.split("/")[1]) for name in runs if name.startswith("BM_Get/")]
    rows = []
    for size in sizes:
        raw = runs.nanoseconds(f"BM_RawMapFindAndCopy/{size}")
        cells = [f"{size:,}", f"{raw:.1f}"]
        for call in ("Get", "Incr", "Set"):
            time = runs.nanoseconds(f"BM_{call}/{size}")
            cells += [f"{time:.1f}", f"{time / raw:.2f}"]
        rows.append([*cells, f"{runs.figure(f'BM_Get/{size}', 'allocations'):.2f}"])
    return table(["keys", "raw map, ns", "GET, ns", "GET / raw", "INCR, ns", "INCR / raw", "SET, ns", "SET / raw",
                  "allocations of GET"], rows, left=0)


def printed_tables(*outputs):
    """The Markdown that the commands print."""
    return "\n\n".join(output.strip() for output in outputs)


def only_tables(output):
    """The tables of an output that has other text as well."""
    tables = re.findall(r"(?:^\|.*\n)+", output, re.M)
    return "\n".join(tables).strip()


LIVE = {"Plain": "Unix socket", "Tls": "TLS on loopback", "Cluster": "cluster of three masters",
        "Sentinels": "master of sentinels"}
COROUTINES = {"Spawned": "a new one for each command", "Standing": "that await in a loop"}


def live_table(output):
    runs = runs_of(output)

    def against_hiredis(name, server, depth):
        return f"{runs.ratio(name, f'BM_Hiredis<{server}>/{depth}/real_time', 'items_per_second'):.2f}"

    # The order of the runs is random.
    depths = sorted(int(found[1]) for name in runs if (found := re.match(r"BM_Hiredis<Plain>/(\d+)", name)))
    rows = []
    for server, title in LIVE.items():
        for kind, coroutines in COROUTINES.items():
            names = [f"BM_{kind}Coroutines<{server}>/{depth}/real_time" for depth in depths]
            allocations = runs.figure(names[-1], "allocations")
            rows.append([title, coroutines, *map(against_hiredis, names, [server] * len(names), depths),
                         f"{allocations:.1f}"])
    blocking = ", ".join(
        f"`{client}` {against_hiredis(f'BM_Blocking<redis::{client}>/real_time', 'Plain', 1)}"
        for client in ("SyncClient", "SyncPool"))
    cached, memory = runs.nanoseconds("BM_CachedGet"), runs.nanoseconds("BM_MemoryGet")
    return (table(["server", "coroutines", *(f"depth {depth}" for depth in depths), "allocations per command"], rows,
                  left=2)
            + f"\n\nAt depth 1 hiredis itself reaches {against_hiredis('BM_Hiredis<Events>/1/real_time', 'Plain', 1)} if "
            f"each read waits in epoll, as in an event loop. Clients that block, at depth 1: {blocking}. A GET from the client's cache takes {cached:.0f} ns, a typed GET "
            f"of the memory engine {memory:.0f} ns.")


def sim_table(output):
    runs = runs_of(output)
    rows = []
    for name in runs:
        if name.startswith("BM_SimulatedCommands"):
            what = "commands, with a trace" if "traced:1" in name else "commands, without a trace"
        elif name.startswith("BM_Schedules"):
            what = f"schedules of three actors, {runs.label(name)}"
        else:
            what = "minutes of an idle year"
        if name.endswith("split:1"):
            what += ", split events"
        rows.append([what, rate(runs.figure(name, "items_per_second"))])
    return table(["simulated", "per second"], rows)


def systems_table(*outputs):
    rows = []
    for system, output in zip(SYSTEMS, outputs):
        runs = runs_of(output)
        pairs = {}
        for name in runs:
            operation, backend, variant = parts_of(name)
            if backend:
                pairs.setdefault((operation, runs.label(name) or variant), {})[backend] = name
        for (operation, variant), pair in pairs.items():
            live = pair["Live"]
            figures = [duration(runs.nanoseconds(pair["Memory"])), duration(runs.nanoseconds(live))]
            figures.append(f"{runs.figure(live, 'round_trips'):.1f}".removesuffix(".0"))
            rows.append([system, ", ".join(filter(None, [operation, variant])), *figures])
    return table(["system", "operation", "in memory", "live", "round trips"], rows, left=2)


def files_command(*options):
    return ("bench/serve/data_files_bench.py", "{bin}/redouble", *options)


SECTIONS = (
    Section("engine", ("//bench:engine",), (of_program("engine"),), engine_table),
    Section("memory", ("//bench:memory",), (("{bin}/bench/memory", "--full"),), only_tables),
    Section("serve", ("//:redouble",), (("bench/serve/requests_bench.py", "{bin}/redouble", "--scale", "0.4"),), printed_tables),
    Section("latency", ("//:redouble", "//bench/serve:open_loop"),
            (("bench/serve/latency_bench.py", "{bin}/redouble", "{bin}/bench/serve/open_loop"),), printed_tables),
    Section("files", ("//:redouble",), (files_command("--keys", "1000000", "--rounds", "5"),
                                        files_command("--keys", "1000000", "--rounds", "5", "--mixed"),
                                        files_command("--keys", "10000000")), printed_tables),
    Section("background", ("//:redouble",), (("bench/serve/background_save_bench.py", "{bin}/redouble"),), printed_tables),
    Section("live", ("//bench:live",), (of_program("live", "--benchmark_repetitions=7",
                                                   "--benchmark_enable_random_interleaving=true"),), live_table),
    Section("sim", ("//bench:sim",), (of_program("sim"),), sim_table),
    Section("systems", tuple(f"//bench:{system}" for system in SYSTEMS), tuple(map(of_program, SYSTEMS)),
            systems_table),
    Section("throughput", ("//bench:orchestrator",), (of_program("orchestrator"),),
            lambda output: orchestrator_table.table(json.loads(output)), "docs/systems/orchestrator.md"),
)
