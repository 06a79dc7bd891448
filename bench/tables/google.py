"""Reads what Google Benchmark writes with --benchmark_out_format=json."""

import re
import statistics

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Runs:
    """The runs of one program by name. A figure is the median of the repetitions."""

    def __init__(self, measured):
        self.context = measured["context"]
        self.by_name = {}
        for run in measured["benchmarks"]:
            if run.get("error_occurred"):
                raise ValueError(f"{run['name']}: {run['error_message']}")
            if run.get("run_type", "iteration") == "iteration":
                self.by_name.setdefault(run["name"], []).append(run)

    def __iter__(self):
        return iter(self.by_name)

    def label(self, name):
        return self.by_name[name][0].get("label", "")

    def all(self, name, figure):
        return [run[figure] for run in self.by_name[name]]

    def figure(self, name, figure):
        return statistics.median(self.all(name, figure))

    def nanoseconds(self, name):
        """The time of one iteration: elapsed if the benchmark says so, otherwise that of the processor."""
        elapsed = name.endswith("/real_time")
        unit = NANOSECONDS[self.by_name[name][0]["time_unit"]]
        return unit * self.figure(name, "real_time" if elapsed else "cpu_time")

    def ratio(self, name, other, figure):
        """The median of the repetitions' ratios."""
        return statistics.median(one / another for one, another in zip(self.all(name, figure), self.all(other, figure)))


def words_of(name):
    """A name of C++ as words: kNewestFirst, InsertEvent."""
    name = re.sub(r"^.*::", "", name)
    name = re.sub(r"^k(?=[A-Z])", "", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()


def parts_of(name):
    """The parts of a name of a system's benchmark: the operation in words, its backend ("" if none), its variant."""
    found = re.fullmatch(r"BM_(\w+?)(?:<(.*?)>)?((?:/[^/]+)*?)(?:/iterations:\d+)?(?:/real_time)?", name)
    parameters = [part.strip() for part in (found[2] or "").split(",") if part]
    backend = parameters.pop(0) if parameters and parameters[0] in ("Memory", "Live") else ""
    arguments = [argument.replace(":", " ") for argument in found[3].split("/") if argument]
    return words_of(found[1]), backend, ", ".join([*map(words_of, parameters), *arguments])
