"""Finds the program `redouble`."""

import os
import shutil

VARIABLE = "REDOUBLE_BIN"

_HELP = f"""\
Give its path with `pytest --redouble-bin PATH`, Redouble(program=PATH) or {VARIABLE}=PATH, or put
`redouble` on the PATH. To get it, run `bazel build --config=opt //:redouble` in a checkout of Redouble
(the program is bazel-bin/redouble), or install the Debian package `redouble`."""


class ProgramNotFound(FileNotFoundError):
    """There is no program `redouble` where it was looked for; the text says where, and how to get it."""


def find_program(path=None):
    """The absolute path of the program: `path`, else $REDOUBLE_BIN, else `redouble` on the PATH.

    Raises ProgramNotFound. A path that is given and is no program is an error: the search does not
    continue.
    """
    for origin, given in (("the given path", path), (VARIABLE, os.environ.get(VARIABLE))):
        if given:
            found = shutil.which(os.path.abspath(given))
            if not found:
                raise ProgramNotFound(f"{origin} is {os.fspath(given)}, which is not a program.\n{_HELP}")
            return found
    found = shutil.which("redouble")
    if not found:
        raise ProgramNotFound(f"The program `redouble` is not on the PATH.\n{_HELP}")
    return os.path.abspath(found)
