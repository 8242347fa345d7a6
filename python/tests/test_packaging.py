"""Wheel and sdist: each can be installed in an empty environment and works there, and PyPI will accept it.

Both are built again, with the previous build directory of cargo. Nothing is downloaded: the build backend is that of
this environment.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
import trove_classifiers

import toolwire

PACKAGE = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or PACKAGE.parent / "target")

CALL = """
import toolwire, importlib.metadata, pathlib
assert "site-packages" in toolwire.__file__, toolwire.__file__
assert importlib.metadata.version("toolwire") == toolwire.__version__
assert pathlib.Path(toolwire.__file__).with_name("py.typed").exists()
assert all("extra ==" in wanted for wanted in importlib.metadata.requires("toolwire"))
print(toolwire.sanitize({"properties": {"unit": {"const": "celsius"}}}, dialect="codex").schema)
print(toolwire.normalize_envelope(b"{}").schema)
"""
ANSWER = """\
{'type': 'object', 'properties': {'unit': {'type': 'string', 'enum': ['celsius']}}}
b'{"type":"object","properties":{}}'
"""


# The sdist has to build and to work. Build time matters here, and the speed of the code does not.
QUICKLY = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
}


def run(*command: str | Path, directory: Path, settings: dict[str, str] | None = None) -> str:
    """Run a command and return its output; if it fails, show everything."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "VIRTUAL_ENV": sys.prefix, **(settings or {})}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


def maturin(*arguments: str | Path, directory: Path, settings: dict[str, str] | None = None) -> None:
    """Run the build tool of this environment."""
    run(Path(sys.executable).with_name("maturin"), *arguments, directory=directory, settings=settings)


SCRIPT = PACKAGE.parent / "scripts" / "package.sh"


def installs(wheel: Path, place: Path, *, has_program: bool) -> None:
    """Install a wheel in an empty environment and make calls there."""
    venv.create(place, with_pip=False, symlinks=os.name != "nt")
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--prefix",
        place,
        wheel,
        directory=place,
    )
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    assert run(python, "-I", "-c", CALL, directory=place) == ANSWER
    script = place / ("Scripts/toolwire.exe" if os.name == "nt" else "bin/toolwire")
    assert script.exists() == has_program
    module = (python, "-I", "-m", "toolwire")
    if not has_program:
        done = subprocess.run([*module, "--version"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("toolwire: expected the program of the package, found none: install a wheel")
        return
    assert run(script, "--version", directory=place).startswith("toolwire ")
    schema = place / "schema.json"
    schema.write_text('{"const": "celsius"}', "utf-8")
    command = (*module, "sanitize", "--dialect", "codex", "--compact", schema)
    assert run(*command, directory=place) == '{"type":"string","enum":["celsius"]}\n'
    failed = subprocess.run([*module, "check", place / "gone.json"], capture_output=True, check=False)
    assert failed.returncode == 2


def only(folder: Path, pattern: str) -> Path:
    """Return the only file that matches a pattern."""
    (found,) = folder.glob(pattern)
    return found


def would_be_taken(package: Path) -> None:
    """Check a package as PyPI does: its metadata, the page rendered from the README, and the classifiers."""
    run(sys.executable, "-m", "twine", "check", "--strict", package, directory=package.parent)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist."""
    out = tmp_path_factory.mktemp("sdist")
    maturin("sdist", "--out", out, directory=PACKAGE)
    return only(out, "*.tar.gz")


@pytest.mark.skipif(os.name == "nt", reason="a shell script copies the program")
def test_wheel_is_complete_and_works(tmp_path: Path) -> None:
    run("bash", SCRIPT, "compile", directory=PACKAGE, settings={"TOOLWIRE_BUILD": "quick"})
    maturin("build", "--release", "--quiet", "--out", tmp_path, directory=PACKAGE)
    wheel = only(tmp_path, "*.whl")
    assert "-cp310-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {path.relative_to(PACKAGE / "src").as_posix() for path in (PACKAGE / "src").rglob("*.py*")}
    sources = {name for name in sources if "__pycache__" not in name}
    assert names == {
        f"toolwire-{toolwire.__version__}.data/scripts/toolwire",
        *sources,
        "toolwire/py.typed",
        only(PACKAGE / "src", "*/_toolwire*.so").relative_to(PACKAGE / "src").as_posix(),
    }
    with zipfile.ZipFile(wheel) as archive:
        licences = [archive.read(name) for name in archive.namelist() if ".dist-info/licenses/" in name]
    assert sorted(licences) == sorted(
        (PACKAGE.parent / name).read_bytes() for name in ("LICENSE-APACHE", "LICENSE-MIT")
    )
    would_be_taken(wheel)
    installs(wheel, tmp_path / "environment", has_program=True)


def test_classifiers_are_known() -> None:
    # PyPI refuses an upload with an unknown classifier, and twine does not check them.
    listed = re.findall(r'^    "(.* :: .*)",$', (PACKAGE / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert len(listed) > 10
    assert set(listed) <= trove_classifiers.classifiers


def test_sdist_is_complete_and_contains_no_private_files(sdist: Path) -> None:
    would_be_taken(sdist)
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    sources = {"core/src/lib.rs", "bindings-py/src/lib.rs"}
    assert {"Cargo.lock", "Cargo.toml", "PKG-INFO", *sources} <= names
    assert not [
        name
        for name in names
        if name.endswith((".so", ".pyc")) or "node_modules" in name or "/target/" in name or ".data/" in name
    ]


def test_wheel_built_from_the_sdist_works(sdist: Path, tmp_path: Path) -> None:
    # The same directory every time, so that cargo can reuse its build of the sdist, but not that of the checkout: the
    # sdist has to be complete.
    sources, target = TARGET / "python-sdist" / "sources", TARGET / "python-sdist" / "target"
    stamp, content = sources / "sha256", hashlib.sha256(sdist.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != content:
        shutil.rmtree(sources, ignore_errors=True)
        # Python 3.12 and 3.13 warn without a filter; the first releases of 3.10 and 3.11 have no filters.
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        with tarfile.open(sdist) as archive:
            for member in archive.getmembers():
                # Cargo compares timestamps, and all files of an sdist have the same one.
                member.mtime = time.time()
                archive.extract(member, sources, **safely)
        stamp.write_text(content)
    settings = {"CARGO_TARGET_DIR": str(target), **QUICKLY}
    maturin(
        "build", "--release", "--quiet", "--out", tmp_path, directory=only(sources, "toolwire-*"), settings=settings
    )
    installs(only(tmp_path, "*.whl"), tmp_path / "environment", has_program=False)
