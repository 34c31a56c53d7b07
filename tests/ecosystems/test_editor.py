"""An editor reads the schema that the file of `init` names: diagnostics of the real YAML language server."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SERVER = "yaml-language-server@2.0.0"
WRONG = "loop: {max_iteration: 3}\nstall: {window: many}\n"


class Server:
    """A language server on its standard input and output."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [program, "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def send(self, method: str, params: Mapping[str, Any], number: int | None = None) -> None:
        document = {"jsonrpc": "2.0", "method": method, "params": params}
        self._write(document if number is None else {**document, "id": number})

    def _write(self, document: Mapping[str, Any]) -> None:
        data = json.dumps(document).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def until(self, wanted: str | int) -> Any:
        """Return the parameters of a notification, or the result of a request; what the server asks gets no answer."""
        while True:
            size = 0
            while line := self._process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
            assert size, "the server has ended"
            document = json.loads(self._process.stdout.read(size))
            if document.get("method") == wanted:
                return document["params"]
            if "method" in document and "id" in document:
                self._write({"jsonrpc": "2.0", "id": document["id"], "result": None})
            elif document.get("id") == wanted:
                return document["result"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def test_an_editor_marks_what_the_file_must_not_have_and_completes_its_keys(project, with_tools):
    with_tools(("make", "node"), (SERVER,))
    made = project({"package.json": '{"private": true}', "Makefile": "test:\n\ttrue\n"}, (SERVER,))
    (made.root / "package.json").unlink()
    made.ours("init", "--yes")
    text = (made.root / "ralph-tracker.yaml").read_text()
    server = Server(made.root / "node_modules/.bin/yaml-language-server", made.root)
    try:
        root = made.root.as_uri()
        folders = [{"uri": root, "name": "project"}]
        server.send(
            "initialize", {"processId": None, "rootUri": root, "capabilities": {}, "workspaceFolders": folders}, 1
        )
        server.until(1)
        server.send("initialized", {})
        assert _said(server, made.root / "ralph-tracker.yaml", text) == []
        wrong = _said(server, made.root / "wrong.yaml", text + WRONG)
        where = {"uri": (made.root / "wrong.yaml").as_uri()}
        at = {"line": len((text + WRONG).splitlines()) - 1, "character": 8}
        server.send("textDocument/completion", {"textDocument": where, "position": at}, 2)
        offered = {each["label"] for each in server.until(2)["items"]}
    finally:
        server.close()
    assert [("max_iteration" in each, "integer" in each) for each in wrong] == [(True, False), (False, True)]
    assert {"tolerance", "variance"} <= offered


def _said(server: Server, file: Path, text: str) -> list[str]:
    opened = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
    server.send("textDocument/didOpen", {"textDocument": opened})
    said = server.until("textDocument/publishDiagnostics")
    assert said["uri"] == file.as_uri()
    return [each["message"] for each in said["diagnostics"]]
