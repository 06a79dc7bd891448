"""tools/cmake_sources: writes cmake/sources.cmake, or checks that it is as the BUILD files say."""

import os
import sys

import sources

_OUTPUT = "cmake/sources.cmake"


def main(arguments):
    """Usage: ROOT [--check]. Returns the exit status."""
    root = arguments[0]
    path = os.path.join(root, _OUTPUT)
    text = sources.render(sources.Sources(root))
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    if "--check" in arguments:
        if old != text:
            print("%s is stale: run tools/cmake_sources" % _OUTPUT)
            return 1
        return 0
    if old != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
