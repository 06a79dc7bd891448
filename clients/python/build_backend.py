"""Builds the package for pip (PEP 517) with the standard library alone.

With a backend like setuptools, `pip install ./clients/python` fetches that backend from the network
first, unless the user knows the options that prevent it.
"""

import ast
import base64
import hashlib
import os
import tarfile
import zipfile

_PACKAGE = "redouble"
_SKIPPED = ("__pycache__",)


def _tables():
    """pyproject.toml as {table: {key: value}}. Python 3.9 has no parser of TOML."""
    tables, table = {}, None
    with open("pyproject.toml", encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                table = tables.setdefault(line.strip("[]"), {})
            elif line and not line.startswith("#"):
                key, _, value = line.partition(" = ")
                table[key] = ast.literal_eval(value)
    return tables


def _stem(project):
    return "%s-%s" % (project["name"].replace("-", "_"), project["version"])


def _metadata(tables):
    project = tables["project"]
    lines = [
        "Metadata-Version: 2.1",
        "Name: " + project["name"],
        "Version: " + project["version"],
        "Summary: " + project["description"],
        "License: " + project["license"],
        "Requires-Python: " + project["requires-python"],
        "Description-Content-Type: text/markdown",
    ]
    lines += ["Classifier: " + name for name in project["classifiers"]]
    lines += ["Requires-Dist: " + requirement for requirement in project["dependencies"]]
    for extra, requirements in tables["project.optional-dependencies"].items():
        lines.append("Provides-Extra: " + extra)
        lines += ['Requires-Dist: %s; extra == "%s"' % (each, extra) for each in requirements]
    with open(project["readme"], encoding="utf-8") as file:
        return "\n".join(lines) + "\n\n" + file.read()


def _write_wheel(folder, files):
    """Writes the wheel of the files, (name, bytes), and its description. Returns its name."""
    tables = _tables()
    stem = _stem(tables["project"])
    info = stem + ".dist-info/"
    plugins = tables["project.entry-points.pytest11"].items()
    files = list(files) + [
        (info + "METADATA", _metadata(tables).encode()),
        (info + "WHEEL", b"Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        (info + "entry_points.txt", "".join(["[pytest11]\n"] + ["%s = %s\n" % each for each in plugins]).encode()),
    ]
    name = stem + "-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files:
            wheel.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (path, digest, len(content))
        wheel.writestr(info + "RECORD", record + info + "RECORD,,\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: the package as a wheel."""
    files = []
    for name in sorted(os.listdir(_PACKAGE)):
        if name not in _SKIPPED:
            with open(os.path.join(_PACKAGE, name), "rb") as file:
                files.append(("%s/%s" % (_PACKAGE, name), file.read()))
    return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 660: a wheel that points to this folder, for `pip install --editable`."""
    return _write_wheel(wheel_directory, [("pytest_redouble.pth", (os.getcwd() + "\n").encode())])


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: the sources that build_wheel needs, as an archive."""
    tables = _tables()
    stem = _stem(tables["project"])
    name = stem + ".tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as archive:
        for path in ("pyproject.toml", "README.md", "build_backend.py", _PACKAGE):
            archive.add(path, "%s/%s" % (stem, path),
                        filter=lambda info: None if os.path.basename(info.name) in _SKIPPED else info)
    return name
