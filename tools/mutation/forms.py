"""The forms of C++ lines in which a fault can be planted beside the original, so that one build holds both."""
import re


def masked(line):
    """The line with what stands in strings and comments blanked out, so that positions stay."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', lambda m: m[0][0] + " " * (len(m[0]) - 2) + m[0][-1], line)
    return re.sub(r"//.*", lambda m: " " * len(m[0]), line)


def matching(code, start):
    """Where the bracket that was opened before `start` is closed."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return None


def planted(before, after, chosen):
    """The line with both the original and the fault, and the choice between them; nothing where the form is not known."""
    code = masked(before).rstrip()
    before, after = before[:len(code)], after[:len(after) - (len(before) - len(code))]  # without a comment at the end
    return in_condition(code, before, after, chosen) or in_statement(code, before, after, chosen)


def either(before, after, start, end, chosen):
    """The expression from `start` to `end` of the line becomes a choice; nothing when the fault lies elsewhere."""
    shift = len(after) - len(before)
    if before[:start] != after[:start] or before[end:] != after[end + shift:]:
        return None
    return f"{before[:start]}{chosen} ? ({after[start:end + shift]}) : ({before[start:end]}){before[end:]}"


def in_condition(code, before, after, chosen):
    if m := re.match(r"\s*(?:\} else )?(?:if|while) \((?!const |auto )", code):
        end = matching(code, m.end())
        if end and ";" not in code[m.end():end] and re.match(r"\)( \{| .*;)?$", code[end:]):
            return either(before, after, m.end(), end, chosen)
    if m := re.match(r"\s*for \([^;]*; ([^;]*); [^;]*$", code):
        return either(before, after, m.start(1), m.end(1), chosen)
    return None


def in_statement(code, before, after, chosen):
    if code.count("(") != code.count(")") or code.count("{") != code.count("}") or not code.endswith(";"):
        return None
    if re.match(r"\s*(?:if|for|while|else|\}|case|default|do)\b", code):
        return None
    if re.match(r"\s*return [^{]*;$", code):
        return f"{{ if ({chosen}) {after.strip()} {before.strip()} }}"
    if m := re.match(r"\s*(?:const )?(?:auto|bool|int|unsigned|double|std::u?int\d+_t|std::size_t) \w+ = (.*);$", code):
        return either(before, after, m.start(1), m.end(1), chosen)
    target = r"[\w.\->\[\]:*]+"
    if re.match(rf"\s*{target} [-+*/|&]?= .*;$", code) or re.match(rf"\s*{target}\(.*\);$", code):
        return f"{{ if ({chosen}) {{ {after.strip()} }} else {{ {before.strip()} }} }}"
    return None
