"""What a tolerant parser finds in a Python file with a syntax error: its definitions, without references."""

from __future__ import annotations

import ast
import re
import tokenize
import warnings

import tree_sitter
import tree_sitter_python

from codekb.parsing.python_chunks import Found

_LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
MAX_REPAIRS = 40
"""Attempts at one file; each costs a parse."""
MAX_BROKEN = 12
"""Lines of one broken statement; a longer one is likely an error node that swallowed definitions."""
_COMPOUND = frozenset(
    ["if_statement", "for_statement", "while_statement", "try_statement", "with_statement", "match_statement"]
)
_HEADER = re.compile(r"^([ \t]*)((?:async[ \t]+)?def|class)[ \t]+([^\W\d]\w*)")
_BARE = re.compile(r"expected an indented block after .* on line (\d+)")
_CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})( |$)")
"""Lines that a version control system leaves where two changes meet."""
_KINDS = {"function_definition": "function", "class_definition": "class"}
_DOC = re.compile(r"""^[rRuU]*("{3}|'{3}|"|')(.*)\1$""", re.DOTALL)


def syntax(text: str) -> tree_sitter.Tree:
    """The concrete syntax tree, with error nodes where the text does not fit the grammar."""
    return tree_sitter.Parser(_LANGUAGE).parse(text.encode())


def recover(text: str) -> list[Found]:
    """The module and every function and class whose header the tolerant parser recognises, outermost first."""
    root = syntax(text).root_node
    found = [Found("module", "", -1, 1, end=text.count("\n") + 1)]
    pending: list[tuple[tree_sitter.Node, int, tree_sitter.Node | None]] = [(root, 0, None)]
    while pending:
        node, parent, decorated = pending.pop()
        around = parent
        if node.type in _KINDS and (name := node.child_by_field_name("name")) is not None and name.text:
            around = len(found)
            found.append(_found(node, parent, decorated))
        outer = node if node.type == "decorated_definition" else None
        pending += [(child, around, outer) for child in reversed(node.named_children)]
    return found


def repaired(text: str, error: SyntaxError) -> str | None:
    """The text with what is broken replaced by something that parses, all lines kept; None when that does not help.

    A broken header keeps its name; else only simple statements and error nodes are given up, never a whole definition.
    """
    lines = text.split("\n")
    for _ in range(MAX_REPAIRS):
        line = min(max(error.lineno or 1, 1), len(lines))
        if not _give_up(lines, line, error):
            return None
        mended = "\n".join(lines)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(mended, "<repaired>", "exec", ast.PyCF_ONLY_AST)
        except SyntaxError as next_error:
            error = next_error
            continue
        return mended
    return None


def _give_up(lines: list[str], line: int, error: SyntaxError) -> bool:
    """Replace what is broken around `line` in place. Whether anything was left to replace."""
    marked = [number for number, one in enumerate(lines) if _CONFLICT.match(one)]
    for number in marked:
        lines[number] = ""
    if marked:
        return True
    text = lines[line - 1]
    if _HEADER.match(text) or text.lstrip().startswith("@"):  # nobody opens a bracket to define something inside
        line = _opened(lines[: line - 1]) or line
        text = lines[line - 1]
    header = _HEADER.match(text)
    if header:
        indent, kind, name = header.groups()
        plain = f"{indent}{kind} {name}{'' if kind == 'class' else '(*args, **kwargs)'}: pass"
        if text not in (plain, plain.removesuffix(" pass")):
            body = next((one for one in lines[line:] if one.strip()), "")
            indented = len(body) - len(body.lstrip()) > len(indent)
            lines[line - 1] = plain.removesuffix(" pass") if indented else plain
            return True
    if isinstance(error, IndentationError):
        bare = _BARE.search(str(error.msg))
        number = int(bare[1]) - 1 if bare else line
        if bare and number < len(lines) and lines[number].rstrip().endswith(":"):
            lines[number] = lines[number].rstrip() + " pass"
            return True
        if not bare:
            lines[line - 1] = ""
            return bool(text.strip())
    if text.strip().startswith("except ") and not text.strip().startswith("except Exception:"):
        head, _, rest = text.partition(":")
        lines[line - 1] = (
            head[: len(head) - len(head.lstrip())] + "except Exception:" + (" pass" if rest.strip() else "")
        )
        return True
    first, last = _broken_lines("\n".join(lines), line)
    if not any(one.strip() not in ("", "pass") for one in lines[first - 1 : last]):
        return False
    start = lines[first - 1]
    indent = start[: len(start) - len(start.lstrip())]
    last = _before_definition(lines, line, last, len(indent))
    left = "; ".join(_calls(start)) if first == last else ""
    plain = indent + (left if left and left != start.strip() else "pass")
    lines[first - 1 : last] = [plain, *[""] * (last - first)]
    return True


def _opened(lines: list[str]) -> int:
    """The line of the first bracket that these lines leave open, 0 for none."""
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(iter([one + "\n" for one in lines]).__next__):
            if token.type == tokenize.OP and token.string in "([{":
                opened.append(token.start[0])
            elif token.type == tokenize.OP and token.string in ")]}" and opened:
                opened.pop()
    except (tokenize.TokenError, SyntaxError):
        pass
    return opened[0] if opened else 0


def _calls(line: str) -> list[str]:
    """The outermost calls of a broken line that are whole in themselves, so that they are not lost with it."""
    found, pending = [], [syntax(line.strip()).root_node]
    while pending:
        node = pending.pop()
        if node.type == "call" and not node.has_error and node.text:
            found.append(node.text.decode(errors="replace"))
        else:
            pending += reversed(node.named_children)
    return [text for text in found if _parses(text)]


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<call>", "eval", ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError):
        return False
    return True


def _before_definition(lines: list[str], line: int, last: int, indent: int) -> int:
    """The last line of a broken statement: an open bracket swallows no definition that is indented no deeper."""
    for number in range(line, last):
        text = lines[number]
        if len(text) - len(text.lstrip()) <= indent and (_HEADER.match(text) or text.lstrip().startswith("@")):
            return number
    return last


def _broken_lines(text: str, line: int) -> tuple[int, int]:
    """The lines, 1-based and inclusive, of the innermost simple statement or error node around `line`."""
    node: tree_sitter.Node | None = syntax(text).root_node
    best = (line, line)
    while node is not None:
        inside = [c for c in node.children if c.start_point[0] + 1 <= line <= _last_line(c)]
        node = next((c for c in inside if c.is_named), None)
        if node is not None and (node.is_error or (node.type.endswith("_statement") and node.type not in _COMPOUND)):
            span = (node.start_point[0] + 1, _last_line(node))
            best = span if span[1] - span[0] < MAX_BROKEN else best
    return best


def _found(node: tree_sitter.Node, parent: int, decorated: tree_sitter.Node | None) -> Found:
    start = decorated or node
    body = node.child_by_field_name("body")
    header_end = body.start_byte if body is not None else node.end_byte
    header = (node.text or b"")[: header_end - node.start_byte].decode(errors="replace")
    decorators = [c for c in (decorated.named_children if decorated else ()) if c.type == "decorator"]
    return Found(
        kind=_KINDS[node.type],
        name=_text(node.child_by_field_name("name")),
        parent=parent,
        line=start.start_point[0] + 1,
        column=start.start_point[1],
        end=_last_line(node),
        signature=re.sub(r"\s+", " ", header).strip().removesuffix(":").rstrip(),
        doc=_doc(body),
        decorators=tuple(_text(d).lstrip("@").partition("(")[0].strip() for d in decorators),
        is_async=header.startswith("async"),
    )


def _text(node: tree_sitter.Node | None) -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def _last_line(node: tree_sitter.Node) -> int:
    """1-based; a node that ends at column 0 ends on the line before."""
    row, column = node.end_point
    return max(node.start_point[0] + 1, row + (1 if column else 0))


def _doc(body: tree_sitter.Node | None) -> str:
    first = body.named_children[0] if body is not None and body.named_child_count else None
    if first is None or first.type != "expression_statement" or not first.named_child_count:
        return ""
    value = first.named_children[0]
    match = _DOC.match(_text(value)) if value.type == "string" else None
    return match[2] if match else ""
