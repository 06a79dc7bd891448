"""How the program is found."""

import os

import pytest

from redouble import ProgramNotFound, find_program


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Three programs: `given`, `variable`, and `redouble` in the folder that is the PATH."""
    monkeypatch.delenv("REDOUBLE_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    (tmp_path / "path").mkdir()
    for name in ("given", "variable", "path/redouble"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_the_given_path_comes_first_then_the_variable_then_the_path(programs, monkeypatch):
    assert find_program() == str(programs / "path" / "redouble")
    monkeypatch.setenv("REDOUBLE_BIN", str(programs / "variable"))
    assert find_program() == str(programs / "variable")
    assert find_program(programs / "given") == str(programs / "given")


def test_a_relative_path_is_relative_to_the_working_folder(programs, monkeypatch):
    monkeypatch.chdir(programs)
    assert find_program("given") == str(programs / "given")


def test_the_error_says_how_to_get_the_program(programs):
    os.remove(programs / "path" / "redouble")
    with pytest.raises(ProgramNotFound) as error:
        find_program()
    assert "not on the PATH" in str(error.value)
    for way in ("--redouble-bin", "REDOUBLE_BIN", "bazel build --config=opt //:redouble", "Debian package"):
        assert way in str(error.value)


def test_a_wrong_path_is_not_replaced_by_another_program(programs, monkeypatch):
    with pytest.raises(ProgramNotFound, match="the given path is none, which is not a program"):
        find_program("none")
    monkeypatch.setenv("REDOUBLE_BIN", "/none")
    with pytest.raises(ProgramNotFound, match="REDOUBLE_BIN is /none, which is not a program"):
        find_program()
