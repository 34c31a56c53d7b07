"""The published shapes of integrity: a finding, what a record says, what the verb prints."""

from typing import Final, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

_EXACT: Final = ConfigDict(extra="forbid")
Number = float
VerdictWord = Literal["PASS", "SUSPECT", "TAMPERED", "UNPROVEN"]
SeverityWord = Literal["CRITICAL", "HIGH", "MEDIUM"]


class FindingShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    rule: str
    severity: SeverityWord
    message: str
    file: str
    line: int | None
    test: str | None
    tests: list[str]
    old: str | None
    new: str | None
    compared_with: int | None


class Suppressions(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    lint: int
    types: int
    coverage: int


class TrustShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    verdict: VerdictWord
    verdict_recorded: NotRequired[VerdictWord]
    union_rate: Number | None
    compared_with: list[int]
    findings: list[FindingShape]
    findings_total: int
    tests_matched: int
    suppressions: Suppressions
    unread: dict[str, str]


class HeldFinding(FindingShape):
    alert: str | None
    state: Literal["new", "open", "accepted"]


class HeldTests(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    alert: str
    state: Literal["new", "open", "accepted"]
    rule: str
    severity: SeverityWord
    message: str
    tests: dict[str, str]


class IntegrityShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    schema_version: Literal[1]
    loop_id: str
    iteration: int
    verdict: VerdictWord
    verdict_recorded: VerdictWord
    pass_rate: Number | None
    union_rate: Number | None
    quality_score: Number
    adjusted_score: Number
    compared_with: list[int]
    findings: list[HeldFinding]
    tests: list[HeldTests]
    matched: dict[str, list[str]]
    suppressions: Suppressions
    unread: dict[str, str]
