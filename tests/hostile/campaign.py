"""What the campaigns have in common: seeds, time, and how a finding is shown.

A campaign is a function that plays one round with a seed, and raises Finding. Its program takes

    --seed N       the seed of the first round; later rounds have N + 1, N + 2, ...
    --rounds N     how many rounds; by default the few of the test
    --seconds N    rounds until N seconds have passed, instead of --rounds
"""

import argparse
import sys
import time


class Finding(Exception):
    """What does not hold; the text says how to repeat it on a server."""


def run(play, rounds):
    """Plays rounds, and exits with 1 after the first one that finds something."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    end = None if options.seconds is None else time.monotonic() + options.seconds
    seed = options.seed
    while True:
        try:
            play(seed)
        except Finding as finding:
            print(f"found with --seed {seed} --rounds 1:\n{finding}")
            sys.exit(1)
        seed += 1
        if seed - options.seed >= options.rounds if end is None else time.monotonic() >= end:
            break
    print(f"seeds {options.seed} to {seed - 1}: nothing found")
