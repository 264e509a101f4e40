"""BPMN from a few words, as an editor would write it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
    'targetNamespace="http://example.org">\n'
)
KINDS = {
    "start": "startEvent",
    "end": "endEvent",
    "xor": "exclusiveGateway",
    "and": "parallelGateway",
    "or": "inclusiveGateway",
    "events": "eventBasedGateway",
    "catch": "intermediateCatchEvent",
    "throw": "intermediateThrowEvent",
    "boundary": "boundaryEvent",
    "call": "callActivity",
    "sub": "subProcess",
    "adhoc": "adHocSubProcess",
    "complex": "complexGateway",
}


def scope(nodes: str, flows: str) -> str:
    """The inside of a process.

    A node is `kind id attribute=value … [child …]`, one a line, and a task is named as its id; a
    flow line is a path `a > b > c`. A child may hold any XML.
    """
    parts = []
    for line in filter(None, map(str.strip, nodes.splitlines())):
        head, _, inner = line.partition(" <")
        word, key, *rest = head.split()
        kind = KINDS.get(word, "task")
        name = f' name="{key}"' if word in ("task", "call", "sub", "adhoc") else ""
        given = "".join(f' {part.partition("=")[0]}="{part.partition("=")[2]}"' for part in rest)
        content = f"<{inner}" if inner else ""
        parts.append(f'<{kind} id="{key}"{name}{given}>{content}</{kind}>')
    for line in filter(None, map(str.strip, flows.splitlines())):
        path = [part.strip() for part in line.split(">")]
        for source, target in pairwise(path):
            condition = "<conditionExpression/>" if target.startswith("?") else ""
            key = f"{source}-{target.lstrip('?')}"
            ends = f'sourceRef="{source.lstrip("?")}" targetRef="{target.lstrip("?")}"'
            key = key.lstrip("?")
            parts.append(f'<sequenceFlow id="{key}" {ends}>{condition}</sequenceFlow>')
    return "\n".join(parts)


def process(nodes: str, flows: str, key: str = "p") -> str:
    """A process."""
    return f'<process id="{key}">\n{scope(nodes, flows)}\n</process>\n'


def write(folder: Path, *parts: str, name: str = "model.bpmn") -> Path:
    """Write processes to a file."""
    path = folder / name
    path.write_text(f"{HEAD}{''.join(parts)}</definitions>\n", encoding="utf-8")
    return path


def draw(folder: Path, nodes: str, flows: str) -> Path:
    """Write one process to a file."""
    return write(folder, process(nodes, flows))
