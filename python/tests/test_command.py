"""The command line: every case of tests/command, in this process and through the installed program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from program import PROGRAM, clean, run
from toolwire import _command, _toolwire, dialects

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "command"


def text(value: Any) -> str:
    """Return a case's text, which is given as a string, a list of lines, or a JSON value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(f"{line}\n" for line in value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cases() -> list[Any]:
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        if path.name != "count.json":
            for case in json.loads(path.read_text("utf-8")):
                found.append(pytest.param(case, id=f"{path.stem}: {case['name']}"))
    return found


def expected(case: dict[str, Any]) -> tuple[str, str, int]:
    return text(case.get("stdout")), text(case.get("stderr")), case["exitCode"]


def listed(files: dict[str, Any], folder: str) -> list[str]:
    """Return the names in a folder of the case's files, with `/` after names of folders."""
    inside = (path.removeprefix(folder) for path in files if path.startswith(folder))
    return sorted({path.partition("/")[0] + path.partition("/")[1] for path in inside})


def test_number_of_cases_matches_count_json() -> None:
    assert len(cases()) == json.loads((FOLDER / "count.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    facts = {**case.get("terminal", {}), "arguments": case["arguments"], "environment": case.get("environment", {})}
    facts["date"] = case.get("date")
    answers = list(case.get("answers", []))
    command = _toolwire.Command(json.dumps(facts))
    while (need := command.need()) is not None:
        kind, *words = need
        kind = kind.removeprefix("regular-")
        files = case.get("files", {})
        if kind == "file" and words[0] not in files:
            command.fail("ENOENT")
        elif kind == "file":
            command.give(text(files[words[0]]).encode())
        elif kind == "folder":
            command.give(json.dumps(listed(files, words[0])).encode())
        elif kind == "variables":
            command.give(json.dumps(case.get("environment", {})).encode())
        elif kind == "set":
            command.give(json.dumps([name for name in words if name in case.get("environment", {})]).encode())
        elif kind == "request":
            answered(command, words[0], answers.pop(0))
        elif kind in ("input", "line"):
            command.give(text(case["stdin"]).encode())
        else:
            server = case.get("servers", {}).get(words[0], case.get("server"))
            if isinstance(server, str):
                command.fail(server)
            else:
                command.give(text(server).encode())
    assert answers == []
    progress = ""
    while (shown := command.step()) is not None:
        progress += shown
    *printed, written = command.finish()
    assert (*printed, progress) == (*expected(case), text(case.get("progress")))
    # The other two members state how the file is written.
    found = [(path, content) for path, content, *_ in written]
    assert found == [(path, text(content)) for path, content in case.get("written", {}).items()]


def answered(command: _toolwire.Command, words: str, answer: Any) -> None:
    """Answer a command's request to an API, after comparing it with the case."""
    request = json.loads(words)
    request["body"] = json.loads(request["body"])
    if isinstance(answer, str):
        command.fail(answer)
        return
    if "for" in answer:
        assert json.dumps(request) == json.dumps(answer["for"])
    body = {"status": answer["status"], "retryAfter": answer.get("retryAfter"), "body": text(answer.get("body"))}
    command.give(json.dumps(body).encode())


def alone() -> list[Any]:
    """Return cases that need no terminal and no server, one for each command, members and exit code.

    A host only performs needs and prints, and each case costs it a process.
    """
    kinds: dict[tuple[tuple[str, ...], frozenset[str], int], Any] = {}
    for case in cases():
        it = case.values[0]
        if not {"terminal", "server", "servers", "answers"} & it.keys():
            kinds.setdefault((tuple(it["arguments"][:1]), frozenset(it), it["exitCode"]), case)
    return list(kinds.values())


@pytest.mark.parametrize("case", alone())
def test_case_in_the_program(case: dict[str, Any], tmp_path: Path) -> None:
    for name, content in case.get("files", {}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text(content).encode())
    done = run(*case["arguments"], given=text(case.get("stdin")), place=tmp_path, **case.get("environment", {}))
    assert (done.stdout.decode(), done.stderr.decode(), done.returncode) == expected(case)
    for path, content in case.get("written", {}).items():
        assert (tmp_path / path).read_bytes().decode() == text(content)


def test_dialects_command_prints_the_librarys_result() -> None:
    assert json.loads(run("dialects", "--json").stdout) == [dialect.to_dict() for dialect in dialects()]


def test_closed_stdout_is_not_an_error() -> None:
    with subprocess.Popen(
        [*PROGRAM, "dialects", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean()
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert (child.wait(60), child.stderr.read()) == (0, b"")


@pytest.mark.parametrize("output", ["stdout", "stderr"])
def test_closed_output_does_not_change_the_exit_code(tmp_path: Path, output: str) -> None:
    fails = {"command": sys.executable, "args": ["-c", "raise SystemExit('no')"]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"one": fails, "two": fails}}), "utf-8")
    tools = [{"name": "now", "inputSchema": {"type": "object", "properties": {"a": {"enum": []}}}}]
    (tmp_path / "t.json").write_text(json.dumps(tools), "utf-8")
    update = ("-d", "openai-chat", "--format", "json", "--baseline", "base.json", "--update-baseline", "t.json")
    for arguments, code in ((("--servers", "mcp.json"), 2), (update, 0)):
        with subprocess.Popen(
            [*PROGRAM, "check", *arguments],
            cwd=tmp_path,
            env=clean(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child:
            getattr(child, output).close()
            assert child.wait(120) == code
    assert b"enum-empty" in (tmp_path / "base.json").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text on other systems")
def test_file_names_that_are_not_utf_8_cause_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"type": "object", "properties": {}}', "utf-8")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).touch()
    done = run("check", "-d", "codex", "-q", "*.json", place=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    done = run("check", os.fsdecode(b"\xff.json"), place=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().endswith(": expected a file, found none with that name\n")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system has no /proc")
def test_procfs_file_with_reported_size_zero_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"type": "object", "properties": {}}', "utf-8")
    (tmp_path / "toolwire.toml").symlink_to("/proc/self/environ")
    done = run("check", "-d", "codex", "-q", "t.json", place=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")


def test_unwritable_output_is_an_error() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("wb") as output:
        done = subprocess.run(
            [*PROGRAM, "dialects"], stdout=output, stderr=subprocess.PIPE, env=clean(), timeout=60, check=False
        )
    message = b"toolwire: expected a writable output, found one that fails (ENOSPC)\n"
    assert (done.returncode, done.stderr) == (2, message)


@pytest.mark.skipif(sys.platform == "win32", reason="shells on Windows cannot close streams")
def test_exit_code_is_correct_with_closed_streams() -> None:
    script = '"$0" -m toolwire check --dialect gemini - '
    for closes, code in [("<&-", 2), (">&- 2>&-", 1), ("2>&-", 1)]:
        done = subprocess.run(
            ["sh", "-c", script + closes, sys.executable],
            input=b'{"type": "array"}',
            capture_output=True,
            env=clean(),
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (closes, done.stderr)
        assert b"Traceback" not in done.stderr


def test_empty_file_name_is_an_error() -> None:
    done = run("check", "")
    assert (done.returncode, done.stderr) == (2, b"toolwire: : expected a file, found none with that name\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets only some users create symbolic links")
def test_symbolic_links_to_folders_are_followed_unless_they_are_endless(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "t.json").write_text('{"type": "object", "properties": {}}', "utf-8")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "nowhere").symlink_to("gone")
    for pattern, count in (("*/*.json", 2), ("link/*.json", 1), ("**/*.json", 1)):
        done = run("check", "--json", pattern, place=tmp_path)
        assert len(json.loads(done.stdout)["sources"]) == count


def test_unwritable_baseline_is_an_error(tmp_path: Path) -> None:
    arguments = ("check", "-d", "codex", "--baseline", "none/base.json", "--update-baseline", "-")
    done = run(*arguments, given='{"type": "object", "properties": {}}', place=tmp_path)
    assert done.returncode == 2
    expected = b"toolwire: none/base.json: expected a writable file, found one that is not (ENOENT)\n"
    assert done.stderr.endswith(expected)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX limits and permissions")
def test_baseline_is_replaced_as_a_whole(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": []}}}
    tools = [{"name": f"bad_{at}", "inputSchema": schema} for at in range(100)]
    (tmp_path / "t.json").write_text(json.dumps(tools), "utf-8")
    base, before = tmp_path / "base.json", b'{"version":1,"findings":[]}\n'
    base.write_bytes(before)
    base.chmod(0o640)
    (tmp_path / "link").symlink_to("base.json")
    arguments = ("check", "-d", "openai-chat", "--update-baseline", "t.json", "--baseline")

    def names() -> list[str]:
        return sorted(path.name for path in tmp_path.iterdir())

    # The limit has the same effect as a full disk.
    script = ["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', *PROGRAM, *arguments, "base.json"]
    done = subprocess.run(script, cwd=tmp_path, env=clean(), capture_output=True, timeout=60, check=False)
    why = b"base.json: expected a writable file, found one that is not (EFBIG)\n"
    assert (done.returncode, done.stderr.endswith(why)) == (2, True), done.stderr
    assert (base.read_bytes(), names()) == (before, ["base.json", "link", "t.json"])
    assert run(*arguments, str(tmp_path / "link"), place=tmp_path).returncode == 0
    assert (base.read_bytes() != before, base.stat().st_mode & 0o777) == (True, 0o640)
    assert ((tmp_path / "link").is_symlink(), names()) == (True, ["base.json", "link", "t.json"])
    # A link without a target is no reason to replace the link.
    (tmp_path / "new").symlink_to("made.json")
    assert run(*arguments, str(tmp_path / "new"), place=tmp_path).returncode == 0
    assert (tmp_path / "new").is_symlink()
    assert (tmp_path / "made.json").read_bytes() == base.read_bytes()


def test_baseline_is_written_in_place_if_it_cannot_be_replaced(tmp_path: Path) -> None:
    mounting = ["unshare", "-rm", "sh", "-c"]
    try:
        subprocess.run([*mounting, "true"], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only Linux has mount points of users")
    schema = {"type": "object", "properties": {"a": {"enum": []}}}
    (tmp_path / "t.json").write_text(json.dumps([{"name": "a", "inputSchema": schema}]), "utf-8")
    base, before = tmp_path / "base.json", b'{"version":1,"findings":[]}\n'
    base.write_bytes(before)
    arguments = ("check", "-d", "openai-chat", "--update-baseline", "t.json", "--baseline", "base.json")
    script = [*mounting, 'mount --bind base.json base.json && exec "$0" "$@"', *PROGRAM, *arguments]
    done = subprocess.run(script, cwd=tmp_path, env=clean(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert base.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.json", "t.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets only some users create symbolic links")
def test_baseline_of_a_configuration_is_not_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "target.json"
    before = json.dumps({"version": 1, "findings": []})
    target.write_text(before, "utf-8")
    arguments = ("check", "-d", "openai-chat", "--update-baseline", "t.json")
    tools = json.dumps([{"name": "now", "inputSchema": {"type": "object", "properties": {}}}])

    def place(name: str, baseline: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "t.json").write_text(tools, "utf-8")
        (folder / "toolwire.toml").write_text(f'baseline = "{baseline}"\n', "utf-8")
        return folder

    links = (
        ("base.json", "base.json", target),
        ("base.json", "base.json", outside / "made.json"),
        ("in/target.json", "in", outside),
        ("in/made.json", "in", outside),
    )
    for at, (baseline, link, goal) in enumerate(links):
        folder = place(str(at), baseline)
        (folder / link).symlink_to(goal)
        done = run(*arguments, place=folder)
        assert done.returncode == 2
        why = f"{baseline}: expected a writable file, found one that is not (ELOOP)\n"
        assert done.stderr.decode().endswith(why)
    assert [path.name for path in outside.iterdir()] == ["target.json"]
    assert target.read_text("utf-8") == before
    folder = place("fine", "in/base.json")
    (folder / "in").mkdir()
    assert run(*arguments, place=folder).returncode == 0
    assert (folder / "in/base.json").exists()
    # The same holds for a relative path on the command line: only an absolute one may follow links.
    (folder / "link").symlink_to(target)
    (folder / "out").symlink_to(outside)
    named = ("check", "-d", "codex", "--update-baseline", "t.json", "--baseline")
    for path in ("link", "./link", "out/target.json", "out/made.json"):
        done = run(*named, path, place=folder)
        assert done.returncode == 2
        why = f"{path}: expected a writable file, found one that is not (ELOOP)\n"
        assert done.stderr.decode().endswith(why)
    assert [path.name for path in outside.iterdir()] == ["target.json"]
    assert target.read_text("utf-8") == before
    assert run(*named, str(folder / "link"), place=folder).returncode == 0
    assert target.read_text("utf-8") != before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no device files")
@pytest.mark.parametrize(
    ("link", "arguments"),
    [
        ("x.json", ("*.json",)),
        ("toolwire.toml", ("-",)),
        ("base.json", ("--baseline", "base.json", "-")),
    ],
)
def test_device_instead_of_a_file_is_refused(tmp_path: Path, link: str, arguments: tuple[str, ...]) -> None:
    tools = json.dumps([{"name": "now", "inputSchema": {"type": "object", "properties": {}}}])
    (tmp_path / link).symlink_to("/dev/zero")
    done = run("check", "-d", "codex", *arguments, given=tools, place=tmp_path)
    assert done.returncode == 2
    assert b"expected a regular file, found a device, a pipe or a socket\n" in done.stderr
    assert link.encode() in done.stderr
    assert run("check", "-d", "codex", "/dev/stdin", given=tools).returncode == 0


def test_main_returns_the_exit_code(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert _command.main(["--version"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"toolwire ")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX permissions")
def test_client_file_keeps_its_bytes_and_permissions(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    before = b'{"mcpServers": {"a": {"command": "x"}}}\r\n'
    file.write_bytes(before)
    file.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    done = run("proxy", "--install", "cursor", "--servers", str(link), "--yes")
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    assert b'"proxy", "--client", "cursor", "--", "x"]}}}\r\n' in file.read_bytes()
    [backup] = tmp_path.glob("link.json.toolwire-backup-*")
    assert backup.read_bytes() == before
    assert [one.stat().st_mode & 0o777 for one in (file, backup)] == [0o600, 0o600]
    # The file is unchanged if its backup cannot be written.
    file.write_bytes(before)
    backup.unlink()
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user can write to read-only folders")
        assert run("proxy", "--install", "cursor", "--servers", str(link), "--yes").returncode == 2
    finally:
        tmp_path.chmod(0o700)
    assert file.read_bytes() == before


FIXABLE = '{"type": "object", "properties": {"a": {"enum": ["b"]}}}\n'


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits paths differently")
def test_unwritable_file_does_not_stop_other_fixes(tmp_path: Path) -> None:
    # A temporary file next to the second one would have too long a name.
    names = ("a.json", f"{'b' * 250}.json", "c.json")
    for name in names:
        (tmp_path / name).write_text(FIXABLE, "utf-8")
    done = run("check", "--fix", "-d", "moonshot", *names, place=tmp_path)
    assert done.returncode == 2
    why = f"{names[1]}: expected a writable file, found one that is not (ENAMETOOLONG)\n"
    assert done.stderr.decode().endswith(why)
    assert [(tmp_path / name).read_text("utf-8") != FIXABLE for name in names] == [True, False, True]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_changed_file_is_not_overwritten_by_a_fix(tmp_path: Path) -> None:
    for name in ("a.json", "c.json"):
        (tmp_path / name).write_text(FIXABLE, "utf-8")
    os.mkfifo(tmp_path / "pipe")
    changed = FIXABLE.replace('"b"', '"x"')
    arguments = ("check", "--fix", "-d", "moonshot", "a.json", "c.json", "pipe")
    with subprocess.Popen(
        [*PROGRAM, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean()
    ) as child:
        # Blocks until the program opens the pipe, which is after it has read the files before it.
        with (tmp_path / "pipe").open("w", encoding="utf-8") as pipe:
            (tmp_path / "a.json").write_text(changed, "utf-8")
            pipe.write('{"type": "object", "properties": {}}')
        _, stderr = child.communicate(timeout=60)
    assert child.returncode == 2
    why = "a.json: expected an unchanged file, found one that has changed since it was read\n"
    assert stderr.decode().endswith(why)
    assert (tmp_path / "a.json").read_text("utf-8") == changed
    assert (tmp_path / "c.json").read_text("utf-8") != FIXABLE
