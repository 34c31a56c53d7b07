"""How large a task is, from its prompt and the context it comes with (seed: Strategy 2).

Words are a guess. It errs towards more room: what speaks for a larger task is looked at before what speaks for a
smaller one, and nothing in particular is `medium`.
"""

import re
from typing import Final

from ralph_tracker.steering.continuation_rules import Complexity, ContinuationRules

_SEVERAL: Final = 2
_SPACES: Final = re.compile(r"[^\S\n]+")
_MAKES: Final = "write|create|generate|implement|scaffold|draft"
_CHANGES: Final = "build|add|fix|refactor|document|test|migrate|update|convert|port|deploy|remove|rename"
# Where a clause begins that may say what to do: "how to write" does not ask for writing.
_CLAUSES: Final = re.compile(r"[.!?;:,](?=\s)|\n|\b(?:please|and|then|also|now)\b", re.IGNORECASE)
_MARKS: Final = " \t-*•0123456789.)"
_ASKED: Final = re.compile(
    r"(?:to |(?:can|could|would|will) you |i (?:want|need) you to |i'd like you to )?"
    rf"(?:(?P<makes>{_MAKES})|{_CHANGES})\b",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s+\S")
_LIST: Final = re.compile(
    rf"\b(?:{_MAKES}|{_CHANGES})\s[^.;\n]{{0,100}}?,\s?(?:(?:an?|the|its)\s[^.;,\n]{{0,100}},?\sand\s"
    r"|[^.;,\n]{0,100},?\sand\s(?:an?\b|the\b|its\b|tests|doc))",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"\b(?:entire|whole|full|complete|all\sof\s(?:the|this|our))\s(?:[\w-]+\s){0,4}?"
    r"(?:systems?|architecture|code\s?base|repo(?:sitory)?|project|app(?:lication)?|platform|program|product)\b"
    r"|\bend[- ]to[- ]end\b|\bfrom\sscratch\b|\b(?:system|codebase|project)[- ]wide\b",
    re.IGNORECASE,
)
_PATH: Final = re.compile(r"(?:^|[\s`'\"(])(?:[\w.~-]*/[\w./-]+|[\w-]{2,}\.[A-Za-z]\w{0,4})(?=[\s`'\"),:;?!.]|$)")
_QUESTION: Final = re.compile(
    r"^\s*(?:what|how|why|which|who|whose|when|where|is|are|was|does|do(?!\s+not)|did|has|have|should)\b", re.IGNORECASE
)
_READ: Final = 20_000  # of a prompt: what it asks for stands there


def classify_task_complexity(
    prompt: str, context_size: int | None = None, rules: ContinuationRules | None = None
) -> Complexity:
    """Return how large a task is.

    `context_size` is what it comes with, in tokens, None where that is not known. `rules` None are the defaults.
    """
    text = _SPACES.sub(" ", prompt[:_READ])
    asked = [found for clause in _CLAUSES.split(text) if (found := _ASKED.match(clause.lstrip(_MARKS)))]
    if _is_several(text, len({found[0].lower().rpartition(" ")[2] for found in asked})) or _WHOLE.search(text):
        return "complex"
    generates = any(found["makes"] for found in asked)
    if not generates and _is_question(text) and not _PATH.search(text):
        return "simple"
    if context_size is not None and context_size > (rules or ContinuationRules()).large_context:
        return "complex"
    return "generation" if generates else "medium"


def _is_several(text: str, verbs: int) -> bool:
    items = sum(_ITEM.match(line.lstrip()) is not None for line in text.split("\n"))
    return verbs >= _SEVERAL or items >= _SEVERAL or _LIST.search(text) is not None


def _is_question(text: str) -> bool:
    return text.rstrip().endswith("?") or _QUESTION.match(text) is not None
