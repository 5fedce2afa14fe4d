"""Prints the scenarios of clients, a line for each, with the first sentence of what it says about itself.
Scripts/client-scenarios --list runs it; it starts nothing."""
import ast
from pathlib import Path

FILES = ["test_clients.py", "test_client_storage.py", "test_client_streams.py"]
# The marks by which a file says what a client has to be able to.
ABILITIES = {"with_clock": "clock", "with_streams": "streams", "with_both": "streams, clock"}


def scenarios(source):
    """The name, abilities and first sentence of each scenario of a file."""
    tree = ast.parse(source)
    needs_storage = "clients_with(\"storage\")" in source.split("\n\n\n")[0]
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marks = [ABILITIES[mark.id] for mark in node.decorator_list if isinstance(mark, ast.Name) and mark.id in ABILITIES]
            abilities = (["storage"] if needs_storage else []) + marks
            about = (ast.get_docstring(node) or "").split(". ")[0].replace("\n", " ").split(":")[0].rstrip(".")
            yield node.name.removeprefix("test_").replace("_", " "), ", ".join(abilities), " ".join(about.split())


if __name__ == "__main__":
    for name in FILES:
        for title, abilities, about in scenarios((Path(__file__).parents[1] / name).read_text()):
            print(title + (f" [{abilities}]" if abilities else "") + (f": {about}" if about else ""))
