"""Who imports whom, and how long things are: the numbers behind the house rules.

    python tools/import_graph.py [PACKAGE_FOLDER]

Every import counts: also lazy ones inside functions, and those for type checking. `tests/test_house.py` uses
the same functions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "textsplice"
BASE = (
    *(
        "errors",
        "visible",
        "parsing",
        "config",
        "files",
        "ragged",
        "arrow",
        "progress",
        "memory",
        "stopping",
        "extensions",
    ),
    *("callable_module", "work", "ray_cluster", "engine"),
)
ROOMS = (
    *("corpus", "text", "slots", "neighbors", "oracle", "runs"),
    *("prepare", "policy", "training", "search", "trace", "evaluate", "report"),
)
# These see everything: the package itself, the façade, the command line.
OPEN = ("__init__", "__main__", "splicer", "rules", "schemas", "fit", "serve", "cli")

Graph = dict[str, set[str]]


def modules(folder: Path) -> dict[str, Path]:
    """The package's modules by their dotted names, without the package's own name."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = path
    return found


def import_graph(folder: Path) -> Graph:
    """For each module the modules of the package that it imports."""
    known = modules(folder)
    graph: Graph = {}
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported: set[str] = set()
        for target in _imports(tree):
            while target and target not in known:  # `from textsplice.a.b import function`
                target = target.rpartition(".")[0]
            if target and target != name:
                imported.add(target)
        graph[name] = imported
    return graph


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                a.name.removeprefix(f"{PACKAGE}.") for a in node.names if a.name.startswith(f"{PACKAGE}.")
            )
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
            inside = node.module.removeprefix(PACKAGE).removeprefix(".")
            yield from (f"{inside}.{a.name}" if inside else a.name for a in node.names)


def room_of(module: str) -> str:
    """The room or base module that a module belongs to."""
    return module.split(".")[0]


def against_the_order(graph: Graph) -> list[str]:
    """Imports of a room that lies further right, or of something that sees everything."""
    place = dict.fromkeys(BASE, 0) | {name: number for number, name in enumerate(ROOMS, start=1)}
    wrong: list[str] = []
    for module, imported in graph.items():
        room = room_of(module)
        if room in OPEN:
            continue
        for target in sorted(imported):
            if place.get(room_of(target), len(ROOMS) + 1) > place.get(room, -1):
                wrong.append(f"{module} imports {target}")
    return wrong


def cycles(graph: Graph) -> list[list[str]]:
    """Groups of modules that import each other, directly or not (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            group: list[str] = []
            while True:
                group.append(stack.pop())
                if group[-1] == module:
                    break
            if len(group) > 1:
                found.append(sorted(group))

    for module in graph:
        if module not in index:
            visit(module)
    return found


def room_edges(graph: Graph) -> set[tuple[str, str]]:
    """Which room imports which."""
    return {
        (room_of(module), room_of(target))
        for module, imported in graph.items()
        for target in imported
        if room_of(module) != room_of(target)
    }


def longest_functions(folder: Path, count: int = 5) -> list[tuple[int, str]]:
    """The functions with the longest bodies, by lines; arguments and docstring do not count."""
    found: list[tuple[int, str]] = []
    for name, path in modules(folder).items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
                found.append((lines, f"{name}:{node.name}"))
    return sorted(found, reverse=True)[:count]


def longest_files(folder: Path, count: int = 5) -> list[tuple[int, str]]:
    """The longest files, by lines."""
    sizes = [
        (len(path.read_text(encoding="utf-8").splitlines()), name) for name, path in modules(folder).items()
    ]
    return sorted(sizes, reverse=True)[:count]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "src" / PACKAGE
    graph = import_graph(folder)
    knots = cycles(graph)
    print(f"{len(graph)} modules, {sum(map(len, graph.values()))} imports between modules")
    rooms = {room_of(module) for module in graph}
    print(f"{len(rooms)} rooms and base modules, {len(room_edges(graph))} edges between them")
    print(f"{len(against_the_order(graph))} imports against the order")
    print(f"{len(knots)} cycles; the largest has {max(map(len, knots), default=0)} modules")
    for label, found in (("functions", longest_functions(folder)), ("files", longest_files(folder))):
        print(f"longest {label}: " + ", ".join(f"{name} ({lines})" for lines, name in found))


if __name__ == "__main__":
    main()
