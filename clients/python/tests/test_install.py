"""The package is installed offline and works as its README says."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest


@pytest.fixture(scope="module")
def installed(package, tmp_path_factory):
    """The folder into which pip installed the package, from a copy, because pip builds in the tree."""
    folder = tmp_path_factory.mktemp("install")
    shutil.copytree(package, folder / "python", symlinks=False, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", "--target",
                    folder / "site", folder / "python"], check=True, env=_environment(folder))
    return folder


def _environment(folder):
    return {**os.environ, "HOME": str(folder), "PYTHONPATH": str(folder / "site"), "PIP_NO_CACHE_DIR": "1"}


def test_the_readme_is_a_test_that_passes(package, installed):
    with open(os.path.join(package, "README.md"), encoding="utf-8") as file:
        code = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL)[1]
    (installed / "test_session.py").write_text(code)
    result = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", installed / "test_session.py"],
                            capture_output=True, text=True, env=_environment(installed), cwd=installed, check=False)
    assert "1 passed" in result.stdout, result.stdout + result.stderr
    assert "redouble-0.1.0" in result.stdout  # The plugin is found by its entry point.


def test_the_introduction_of_the_module_runs(installed):
    program = """
import re, textwrap, redouble
exec(re.sub(r"(?m)^    ", "", redouble.__doc__.split("\\n\\n", 1)[1].rsplit("\\n\\n", 1)[0]))
print(redouble.__file__)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            env=_environment(installed), cwd=installed)
    assert result.stdout.strip() == str(installed / "site" / "redouble" / "__init__.py")


def test_the_file_that_stops_the_server_is_part_of_the_package(package, installed):
    """pip and npm each take one folder, so each package has the file; it is the same one."""
    script = (installed / "site" / "redouble" / "stop_with_parent.sh").read_bytes()
    with open(os.path.join(package, "..", "node", "stop_with_parent.sh"), "rb") as file:
        assert script == file.read()


def _build(installed, hook):
    """Calls a hook of the build backend, as pip does. Returns the path of what it built."""
    code = f"import build_backend; print(build_backend.{hook}('..'))"
    name = subprocess.run([sys.executable, "-B", "-c", code], cwd=installed / "python", check=True,
                          capture_output=True, text=True).stdout.strip()
    return installed / name


def test_an_editable_install_points_to_the_tree(installed):
    with zipfile.ZipFile(_build(installed, "build_editable")) as wheel:
        assert wheel.read("pytest_redouble.pth").decode() == f"{installed / 'python'}\n"


def test_a_source_archive_is_installed(installed):
    archive = _build(installed, "build_sdist")
    subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--no-index", "--target",
                    installed / "from_archive", archive], check=True, env=_environment(installed))
    files = sorted(os.listdir(installed / "site" / "redouble"))
    assert sorted(os.listdir(installed / "from_archive" / "redouble")) == files
