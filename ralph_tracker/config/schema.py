"""The configuration as people write it: one pydantic model a section, unknown keys refused."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from types import UnionType
from typing import Annotated, Any, Final, Literal, Self, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)

from ralph_tracker import plugins
from ralph_tracker.core.thresholds import CHECK_TIMEOUT, SELECTION_MODES, Bounds, OtherNames, Share, Thresholds
from ralph_tracker.errors import ConfigError, InputError, first_problem, nearest, short_text
from ralph_tracker.formats.parsed_report import Severity
from ralph_tracker.steering.plan import Plan, Task, is_usable_id
from ralph_tracker.steering.session_continuation import ContinuationThresholds


def also_by_their_other_names(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Let the published schema take what the model takes: a key by any of its names."""
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        if name in schema.get("properties", ()) and isinstance(alias, AliasChoices):
            schema["properties"] |= {str(other): schema["properties"][name] for other in alias.choices}


class Section(BaseModel):
    """Keys as they are named here and no others, values as they are typed."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, populate_by_name=True, json_schema_extra=also_by_their_other_names
    )


def section_of(values: Any, name: str, **more: Any) -> type[Section]:  # noqa: ANN401  # a named tuple; as create_model
    """Return the section whose keys are the fields of a named tuple: types, bounds, other names, and these defaults.

    `name` is the section's in the JSON Schema. `more` adds keys that are no thresholds, with their types and defaults.
    """
    kind = type(values)
    hints = get_type_hints(kind, include_extras=True)
    keys = {key: _key(key, hint, getattr(values, key)) for key, hint in hints.items()}
    problem = kind.problem.fget if hasattr(kind, "problem") else None
    return _section(name, kind.__doc__, problem, {**more, **keys})


def _section(name: str, doc: str | None, problem: Callable[[Any], str | None] | None, keys: Any) -> type[Section]:  # noqa: ANN401  # as create_model takes them
    """Return a section that is refused where `problem` says why."""

    def check(section: Section) -> Section:
        why = None if problem is None else problem(section)
        if why is not None:
            raise ValueError(why)
        return section

    checks: dict[str, Any] = {"can_be_used": model_validator(mode="after")(check)}
    return create_model(name, __base__=Section, __doc__=doc, __validators__=checks, **keys)


def _key(name: str, hint: Any, default: Any) -> Any:  # noqa: ANN401  # an annotation, a value; as create_model takes it
    title = "".join(word.capitalize() for word in name.split("_"))
    if name == "weights":
        named = default if isinstance(default, Mapping) else default._asdict()
        keys = {key: (_with_bounds(Share), weight) for key, weight in named.items()}
        return _whole(_section(title, "Weights that sum to 1.", _sum_problem, keys))
    if hasattr(default, "_fields"):
        return _whole(section_of(default, title))
    others = [each for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, OtherNames) for each in meta.names]
    return _with_bounds(hint), Field(default, validation_alias=AliasChoices(name, *others) if others else None)


def _whole(section: type[Section]) -> tuple[type[Section], Section]:
    return section, section()


def _with_bounds(hint: Any) -> Any:  # noqa: ANN401  # an annotation, as the core has it; as pydantic takes it
    if get_origin(hint) in {Union, UnionType}:
        return Union[tuple(map(_with_bounds, get_args(hint)))]  # noqa: UP007  # of a tuple that is made here
    plain, *_ = get_args(hint) or (hint,)
    for bounds in getattr(hint, "__metadata__", ()):
        if isinstance(bounds, Bounds):
            finite = False if plain is float else None
            limits = Field(ge=bounds.least, le=bounds.most, gt=bounds.above, allow_inf_nan=finite)
            return Annotated[plain, limits]
    return _with_bounds(plain) if get_origin(hint) is Annotated else hint


def _sum_problem(weights: Section) -> str | None:
    total = sum(getattr(weights, name) for name in type(weights).model_fields)
    return f"the weights sum to {total:g}, not to 1" if abs(total - 1) > 1e-6 else None


_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        msg = f"{short_text(text)} is no day; write it as 2030-12-31"
        raise ValueError(msg) from None


_Day = Annotated[str, AfterValidator(_day)]


class TaskSection(Section):
    """One task: its checks are commands, or names of checks of the configuration."""

    id: str | int
    title: _Words
    description: str = ""
    checks: list[_Words] = []

    @model_validator(mode="after")
    def _id_is_one_word(self) -> Self:
        if not is_usable_id(str(self.id)):
            msg = f"id {short_text(self.id)}: use letters, digits, `_`, and `-` or `.` between them; `skip` is taken"
            raise ValueError(msg)
        return self


class PlanDocument(Section):
    """The whole of a plan file."""

    version: Literal[1] = 1
    context: str = ""
    tasks: list[TaskSection]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        if not self.tasks:
            msg = "tasks: none; name at least one, with id and title"
            raise ValueError(msg)
        seen: set[str] = set()
        for task in self.tasks:
            if str(task.id) in seen:
                msg = f"tasks: id {task.id} is given twice; each needs its own"
                raise ValueError(msg)
            seen.add(str(task.id))
        return self


def plan_of(raw: Any, name: str) -> Plan:  # noqa: ANN401  # as parsed
    """Return the plan that a parsed document holds; `name` is how an error calls it.

    Raises InputError, in one line, for what is no plan.
    """
    try:
        document = PlanDocument.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, PlanDocument)}") from None
    return Plan(
        tuple(
            Task(str(task.id), " ".join(task.title.split()), task.description, tuple(task.checks))
            for task in document.tasks
        ),
        document.context,
    )


class CheckSection(Section):
    """One command that measures: a string goes through /bin/sh, a list is argv.

    `held_back` is a folder of tests outside of the project: it is copied into a scratch tree, and the check runs there.
    `inputs` are patterns of the files that it reads: where none of these changed, an earlier result is taken.
    """

    run: str | list[str]
    reports: list[str] = []
    format: str | None = None
    kind: Literal["tests", "coverage", "lint", "types", "build", "metrics"] | None = None
    cwd: str = "."
    env: dict[str, str] = {}
    needs: list[str] = []
    timeout: str | int = CHECK_TIMEOUT
    held_back: str | None = None
    inputs: list[str] = []

    @model_validator(mode="after")
    def _can_be_started(self) -> Self:
        for name, value in self.env.items():
            if not name or "=" in name or "\0" in name + value:
                msg = (
                    f"env: {short_text(name)} cannot be set; a name has letters, digits and `_`, and no value has a NUL"
                )
                raise ValueError(msg)
        if self.cwd.startswith("/") or ".." in self.cwd.split("/"):
            msg = f"cwd: {short_text(self.cwd)} is outside of the project; name a folder below it"
            raise ValueError(msg)
        for pattern in self.reports:
            if re.match(r"(?:/|(?:\./)*\.\./)(?:\.{0,2}/)*[^/]*[*?\[]", pattern):
                msg = f"reports: {short_text(pattern)} would search far more than the project; name a folder"
                raise ValueError(msg)
        return self


class CodebaseSection(Section):
    """Which files are counted as code, and whether the files of iterations with metrics handed in are kept.

    `auto` keeps them in a git repository; those of iterations that checks measure are kept by `auto` and `always`.
    """

    include: list[str] = ["**"]
    exclude: list[str] = []
    keep: Literal["auto", "always", "never"] = "auto"


class SnapshotSection(Section):
    """Which untracked files are kept with an iteration although they may hold a secret, and what is never kept.

    `include` and `exclude` are patterns as a shell has them: of a name, or with a slash of a path below the project.
    What `exclude` names (of a folder all) is not counted as code, and no restore touches it. With `git_links` each file
    of a loop has a hard link below git's folder, so that the loop outlives `git clean -fdx`.
    """

    include: list[_Words] = []
    exclude: list[_Words] = []
    git_links: bool = True


class IntegritySection(Section):
    """When earlier tests are run on new source, and for how long at most.

    `each` runs them in every iteration in which a test file is not as it was when its tests were first seen, `touched`
    only where it was edited in that iteration.
    """

    rerun: Literal["each", "touched", "never"] = "each"
    rerun_timeout: str | int = "10m"

    @model_validator(mode="before")
    @classmethod
    def _leaves_out_the_only_tool(cls, raw: Any) -> Any:  # noqa: ANN401  # as parsed
        """Take the key `tool` of loops that began when other tools could be named."""
        is_ours = isinstance(raw, Mapping) and raw.get("tool") == "builtin"
        return {key: value for key, value in raw.items() if key != "tool"} if is_ours else raw


class CheckpointsSection(Section):
    """When a plan pauses for a person (steering § 4): after how many tasks, and what holds where nobody is there.

    null never pauses for the number of tasks; a test failure and the costs of `loop` do in any case.
    """

    every: Annotated[int, Field(ge=1)] | None = None
    unattended: Literal["abort", "continue"] = "abort"


class PriceSection(Section):
    """The price of a model in USD for a million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float | None, Field(ge=0)] = None


class FeedbackSection(Section):
    """The feedback on its last iteration that an agent gets: at most about so many tokens, the most valuable first.

    With `fail_early` the installed hooks run the tests that failed last alone; the whole suite runs once these pass.
    """

    tokens: Annotated[int, Field(ge=100)] = 800
    fail_early: bool = False


class ExportSection(Section):
    """Where iterations are sent beside the loop; the servers are named by the environment of whoever runs it."""

    after_each: list[Literal["mlflow", "otlp"]] = []


NotifyEvent = Literal["done", "limit", "stop", "escalate", "blocked", "question"]


class NotifySection(Section):
    """How a person is told that a loop ended, or waits for them."""

    command: Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)] | None = None
    webhook: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    terminal: bool = False
    events: list[NotifyEvent] = list(get_args(NotifyEvent))


class MetricSection(Section):
    """A further number, of the plug-in that has its name or `from` the check that measures it.

    It is read from lines `METRIC name=value unit` of the check's output, or from the report of a benchmark tool, where
    `name` is that of the benchmark; with `pointer` (a JSON pointer) from a JSON report. `repeats` is how often the
    check runs in an iteration. With `max_loss` it is a guard, which may lose that share of the baseline's number.
    """

    check: str | None = Field(default=None, alias="from")
    direction: Literal["up", "down"] | None = None
    unit: _Words | None = None
    name: _Words | None = None
    pointer: Annotated[str, StringConstraints(pattern="^/")] | None = None
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    max_loss: (
        Annotated[float, Field(ge=0, lt=1)] | Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)? ?%$")] | None
    ) = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        needed = (self.check, self.direction, self.unit)
        if None in needed and {*needed, self.name, self.pointer, self.max_loss} != {None}:
            msg = "a number of a check has `from`, `direction` and `unit`; set all three"
            raise ValueError(msg)
        return self


class _Document(Section):
    version: Literal[1] = 1
    plan: str | None = Field(
        default=None, description="The file whose task boxes are counted; the usual names are looked for where null."
    )
    checks: dict[str, CheckSection] = {}
    codebase: CodebaseSection = CodebaseSection()
    snapshot: SnapshotSection = SnapshotSection()
    integrity: IntegritySection = IntegritySection()
    checkpoints: CheckpointsSection = CheckpointsSection()
    feedback: FeedbackSection = FeedbackSection()
    export: ExportSection = ExportSection()
    notify: NotifySection = NotifySection()
    prices: dict[str, PriceSection] = Field(
        default={}, description="What models cost whose agents report tokens only, by name; * for any other."
    )
    metrics: dict[str, MetricSection] = Field(
        default={},
        description="Further numbers, of checks or of plug-ins by their names; they are no part of the score.",
    )
    objectives: Annotated[list[str], Field(max_length=2)] = Field(
        default=[], description="One or two of `metrics` that the loop optimises in place of the score."
    )
    quarantine: dict[_Words, _Day] = Field(
        default={},
        description="Flaky tests and the day that ends their quarantine; they decide nothing in loops begun before.",
    )
    severity: dict[str, Severity] = Field(
        default={},
        description="The severity of linters' findings by the beginning of their codes; the longest beginning wins.",
    )

    @model_validator(mode="after")
    def _objectives_can_be_measured(self) -> Self:
        for name, metric in self.metrics.items():
            if metric.check is not None and metric.check not in self.checks:
                raise ValueError(f"metrics.{name}.from: no check is named {metric.check!r}; name one of `checks`")
        for name in self.objectives:
            if name not in self.metrics or self.metrics[name].check is None:
                raise ValueError(f"objectives: {name!r} is no number of a check; give it in `metrics` with its `from`")
            if self.metrics[name].max_loss is not None:
                raise ValueError(f"objectives: {name!r} is a guard, as it has max_loss; leave one of both out")
        return self


_KEYS: Final[dict[str, Any]] = {
    name: _whole(section_of(value, name.capitalize())) for name, value in Thresholds()._asdict().items()
}
_SESSIONS: Final = section_of(
    ContinuationThresholds(),
    "Continuation",
    enabled=(bool, Field(default=True, description="false leaves the sessions alone that the installed hooks hear.")),
    turn_limits=(
        bool,
        Field(default=False, description="true holds them to the turns and tool calls of `complexity` too."),
    ),
    quality=(bool, Field(default=False, description="true also stops them for what the tracker has on record.")),
)
ConfigDocument: Final = create_model(
    "ConfigDocument",
    __base__=_Document,
    __doc__="The whole of ralph-tracker.yaml, or of [tool.ralph-tracker].",
    **_KEYS,
    continuation=_whole(_SESSIONS),
)


def validate_config(raw: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return every key of a configuration with its value; `name` is how an error calls it. Raises ConfigError."""
    try:
        document = ConfigDocument.model_validate(raw).model_dump(mode="json", by_alias=True)
    except ValidationError as error:
        raise ConfigError(f"{name}: {first_problem(error, ConfigDocument)}") from None
    mode = document["selection"]["mode"]
    if mode not in SELECTION_MODES and mode not in plugins.names("modes"):
        known = [*SELECTION_MODES, *plugins.names("modes")]
        raise ConfigError(f"{name}: selection.mode: no mode {mode!r} is installed{nearest(mode, known)}")
    for metric, section in document["metrics"].items():
        if section["from"] is None and metric not in plugins.names("metrics"):
            hint = nearest(metric, list(plugins.names("metrics")))
            raise ConfigError(f"{name}: metrics.{metric}: no plug-in of that name is installed{hint}")
    return document
