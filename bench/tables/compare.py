"""Compares two builds of Google Benchmark programs: their runs alternate, and each pair gives a ratio."""

import dataclasses
import statistics

from page import table


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    ratio: float  # The median of the pairs: new time / old time.
    least: float
    greatest: float
    slower: int  # Pairs in which the new build was slower.
    pairs: int

    def verdict(self):
        """In words, if all pairs agree. By chance n pairs agree with a probability of 2 / 2^n."""
        if self.slower == self.pairs:
            return "slower"
        return "faster" if self.slower == 0 else ""


def rows_of(pairs):
    """`pairs`: for each round the Runs of the old build and those of the new one. Names that only one has are left out."""
    names = [name for name in pairs[0][1] if all(name in one for pair in pairs for one in (pair[0].by_name, pair[1].by_name))]
    rows = []
    for name in names:
        ratios = [new.figure(name, "cpu_time") / old.figure(name, "cpu_time") for old, new in pairs]
        rows.append(Row(name, statistics.median(ratios), min(ratios), max(ratios), sum(ratio > 1 for ratio in ratios),
                        len(ratios)))
    return rows


def comparison(pairs):
    rows = [[row.name.removeprefix("BM_"), f"{row.ratio:.3f}", f"{row.least:.3f}", f"{row.greatest:.3f}",
             f"{row.slower} of {row.pairs}", row.verdict()] for row in rows_of(pairs)]
    return table(["benchmark", "new / old, processor time", "least", "greatest", "slower pairs", "verdict"], rows)
