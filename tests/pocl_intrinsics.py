"""How PoCL and LLVM say that they end the process themselves."""
import re

_WORDS = re.compile(r"LLVM ERROR.*|.*pocl.*[Aa]ssertion.*|POCL.*ABORT.*|pocl error.*")


def own_end(text):
    """Their words in what a program said; None: it was not they."""
    found = _WORDS.search(text)
    return found.group(0)[:160] if found else None
