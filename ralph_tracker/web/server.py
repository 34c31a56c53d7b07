"""Serve the loops of a project to a browser: pages that stay current, their events, and JSON; nothing is ever written.

A page or document is made from what is kept when it is asked for. A guard lets in only who was given the token, under a
name of this machine, and only to read.
"""

import asyncio
import gzip
import json
import math
import os
import re
import secrets
import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

import uvicorn
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ralph_tracker.core.metrics import BY_NAME, half_up
from ralph_tracker.errors import RalphTrackerError, RecordError, StoreError
from ralph_tracker.iteration.diff import Differences, IterationDiff, MetricChange, diff_document, differences_of
from ralph_tracker.iteration.diff import side_by_side as compared_documents
from ralph_tracker.iteration.explain import explain, explanation_document, kept_point
from ralph_tracker.iteration.iteration_story import IterationStory, iteration_story
from ralph_tracker.loop.reports import DIFF_ROOM, file_patches, loop_page
from ralph_tracker.loop.status import LoopsDocument, StatusDocument, scores_of, state_sentence
from ralph_tracker.report import charts
from ralph_tracker.report.page import LivePage, fill_page, policy_of
from ralph_tracker.report.wording import known_money, number, progress, score, signed_text
from ralph_tracker.report.wording import point_of as point
from ralph_tracker.short_text import percent
from ralph_tracker.steering.plan import (
    PlanState,
    Task,
    TaskProgressSummary,
    compute_progress_summary,
    state_from_plain,
)
from ralph_tracker.store.find import current_loop, loops_of
from ralph_tracker.store.json_documents import read_json
from ralph_tracker.store.layout import LoopPaths, ProjectPaths
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.records_to_show import Listing, as_of_now
from ralph_tracker.store.summary import summary_at, version_of
from ralph_tracker.store.write import LoopStore

COMPARED: Final = 5
_TESTS_SHOWN: Final = 200
StatusOf = Callable[[LoopPaths], StatusDocument]


class LoopRow(NamedTuple):
    """A loop in the table of all; what is not known is "", and `problem` says why it cannot be read."""

    loop_id: str
    current: bool
    status: str = ""
    iteration: int = -1
    score: str = ""
    best: str = ""
    trend: str = ""
    cost: str = ""
    updated: str = ""
    sentence: str = ""
    problem: str = ""
    order: Mapping[str, Any] = {}


# The columns of the table by which it can be sorted, as in the address and as shown.
_SORTED_BY: Final = {
    "loop": "Loop",
    "status": "Status",
    "iteration": "Iteration",
    "score": "Score",
    "best": "Best",
    "cost": "Cost",
    "updated": "Updated, UTC",
}


class ShownTask(NamedTuple):
    """A task of a plan with the row of its loop, if it has one, its cost, and why it failed or stopped."""

    task: Task
    status: str
    row: LoopRow | None
    cost: str
    why: str


class ComparedValue(NamedTuple):
    """A metric of two iterations as it is shown; the verdict is "" where it says nothing."""

    label: str
    before: str
    after: str
    change: str
    verdict: str


def loops_page(project: ProjectPaths, chosen: Sequence[LoopPaths], sort: str, live: LivePage) -> str:
    """Return all loops of a project, the latest first, with the scores of the chosen ones in one chart.

    `sort` is a column, "-" before it sorts down; what is no column says nothing.
    """
    series = {paths.loop_id: scores_of(SealedRecords(paths)) for paths in chosen}
    last = max((values[-1][0] for values in series.values() if values), default=-1)
    scores = [dict(values) for values in series.values()]
    table = [(at, [percent(each[at]) if at in each else "" for each in scores]) for at in range(last + 1)]
    current = current_of(project)
    rows = [_row(paths, is_current=paths.loop_id == current) for paths in reversed(loops_of(project))]
    by = sort.removeprefix("-")
    if by in _SORTED_BY:
        known = [row for row in rows if row.order.get(by) is not None]
        known.sort(key=lambda row: row.order[by], reverse=sort.startswith("-"))
        rows = known + [row for row in rows if row.order.get(by) is None]
    else:
        rows.sort(key=lambda row: row.current, reverse=True)
    asked = urlencode([("loop", name) for name in series])
    best = {paths.loop_id: _best_of(paths) for paths in chosen}
    values = {
        "title": f"Loops of {project.root.name or '/'}",
        "rows": rows,
        "columns": [
            (label, f"{asked}{'&' if asked else ''}sort={'-' if sort == name else ''}{name}", _direction(sort, name))
            for name, label in _SORTED_BY.items()
        ],
        "names": tuple(series),
        "chart": charts.comparison_chart({name: _in_percent(values) for name, values in series.items()}, best),
        "table": table,
        "most": COMPARED,
        "plans": [_plan_row(project, name) for name in plans_of(project)],
    }
    return fill_page("loops.html.j2", values, live)


def current_of(project: ProjectPaths) -> str | None:
    """Return the id of the current loop, None if there is none or it cannot be read."""
    try:
        return current_loop(project)
    except RalphTrackerError:
        return None


def _direction(sort: str, column: str) -> str:
    return {column: "ascending", f"-{column}": "descending"}.get(sort, "")


def _best_of(paths: LoopPaths) -> int | None:
    try:
        return summary_at(paths).best_iteration
    except RalphTrackerError:
        return None


def _row(paths: LoopPaths, *, is_current: bool) -> LoopRow:
    loop = paths.loop_id
    try:
        records = SealedRecords(paths)
        summary = records.summary()
        at, cost = summary.best_iteration, summary.cost_usd
        scores = _in_percent(scores_of(records))
        return LoopRow(
            loop,
            is_current,
            status=summary.status,
            iteration=summary.iteration,
            score=percent(kept_point(paths, summary.iteration).score),
            best="" if at is None else f"{percent(summary.best_adjusted_score)} at {at}",
            trend=charts.small(scores, f"Score of {loop} over the iterations", at, cursor=False),
            cost="" if cost is None else known_money(cost, is_partial=records.has_unknown_costs()),
            updated=summary.updated_at[:16].replace("T", " "),
            sentence=state_sentence(summary, paths),
            order={
                "loop": loop,
                "status": summary.status,
                "iteration": summary.iteration,
                "score": summary.adjusted_score,
                "best": None if at is None else summary.best_adjusted_score,
                "cost": cost,
                "updated": summary.updated_at,
            },
        )
    except RalphTrackerError as error:
        return LoopRow(loop, is_current, problem=str(error))


def _in_percent(series: Sequence[tuple[int, float | None]]) -> list[tuple[int, float | None]]:
    return [(at, None if value is None else value * 100) for at, value in series]


def plan_page(project: ProjectPaths, name: str, live: LivePage) -> str:
    """Return where a plan stands: each task with its loop, and what waits. Raises RecordError for a damaged state."""
    state = _plan_state(project, name)
    summary, current = compute_progress_summary(state), current_of(project)
    tasks = []
    for each in state.tasks:
        row = _row(project.loop(each.loops[-1]), is_current=each.loops[-1] == current) if each.loops else None
        why, cost = "", "" if row is None else row.cost
        if each.outcome is not None:
            why = each.outcome.reason or each.outcome.validation_failure or ""
            cost = "" if each.outcome.cost_usd is None else known_money(each.outcome.cost_usd, is_partial=False)
        status = "begun" if each.id == state.current else each.status
        tasks.append(ShownTask(each.task, status, row, cost, f"{why}. " if why else ""))
    spent, rest = summary.cumulative_cost, summary.estimated_remaining_cost
    figures = {
        "Tasks done": f"{summary.tasks_completed} of {summary.tasks_total}",
        "Failed": str(summary.tasks_failed or ""),
        "Skipped": str(summary.tasks_skipped or ""),
        "Cost": known_money(spent, is_partial=summary.cost_is_partial) if state.ran else "",
        "Cost of the rest": f"about {known_money(rest, is_partial=False)}" if rest else "",
        "Changed files": str(len(summary.changed_files_so_far) or ""),
    }
    values = {
        "name": name,
        "standing": _plan_standing(summary),
        "task": summary.current_task_title,
        "figures": [(label, value) for label, value in figures.items() if value],
        "tasks": tasks,
        "checkpoint": state.checkpoint,
    }
    return fill_page("plan.html.j2", values, live)


def plans_of(project: ProjectPaths) -> dict[str, Path]:
    """Return the states of the plans beside the project's loops, by the name of the plan's file."""
    if project.plans.is_symlink():  # a clone can bring one
        return {}
    states = {lock.stem: lock.with_suffix(".json") for lock in sorted(project.plans.glob("*.lock"))}
    return {name: state for name, state in states.items() if state.is_file()}


def _plan_state(project: ProjectPaths, name: str) -> PlanState:
    file = project.plans / f"{name}.json"
    try:
        return state_from_plain(read_json(file))
    except ValueError as error:
        raise RecordError(f"{file}: damaged ({error}); fix it, or remove it to begin the plan anew") from None


def _plan_row(project: ProjectPaths, name: str) -> tuple[str, str]:
    try:
        summary = compute_progress_summary(_plan_state(project, name))
    except RalphTrackerError as error:
        return name, str(error)
    return name, _plan_standing(summary)


def _plan_standing(summary: TaskProgressSummary) -> str:
    return f"{summary.tasks_completed} of {summary.tasks_total} tasks done"


def diff_page(paths: LoopPaths, before: int, after: int, live: LivePage) -> str:
    """Return two iterations side by side, with the diff of their files. Raises RecordError for a damaged one."""
    story = _story(paths, after)
    diff = _diff(paths, before, after, story.differences if story.compared_with == before else None)
    old, new = (point(*kept_point(paths, number)) for number in (before, after))
    values = {
        "loop_id": paths.loop_id,
        "diff": diff,
        "story": story,
        "sentence": f"{progress(old, new)} from iteration {before} to {after}.",
        "rows": [_compared_value(change) for change in (*diff.scores, *diff.metrics)],
        "changed": _changed(diff.differences, before, after),
    }
    return fill_page("diff.html.j2", values, live)


def iteration_page(paths: LoopPaths, iteration: int, live: LivePage) -> str:
    """Return one iteration as `show` tells it, with the diff of its files. Raises RecordError for a damaged one."""
    story = _story(paths, iteration)
    changed = None
    if story.differences is not None and story.compared_with is not None:
        changed = _changed(story.differences, story.compared_with, iteration)
    last = summary_at(paths).iteration
    values = {"loop_id": paths.loop_id, "story": story, "changed": changed, "last": last}
    return fill_page("iteration.html.j2", values, live)


def _story(paths: LoopPaths, iteration: int) -> IterationStory:
    records = SealedRecords(paths)
    document = Listing(paths.loop_id, records).one(iteration).require()
    return iteration_story(document, records, explain(records, document))


def _changed(found: Differences, before: int, after: int) -> dict[str, Any]:
    """Return tests and files that changed as a page shows them: names up to a limit, patches while there is room."""
    command, room, patches = f"ralph-tracker diff {before} {after}", DIFF_ROOM, []
    for file in file_patches(found.files or (), command):  # those without room name the command that shows them
        room -= len(file.patch)
        patches.append(file if room >= 0 else file._replace(patch="", note=command))
    tests = [
        (
            kind.replace("_", " ").capitalize(),
            [each.id for each in changes[:_TESTS_SHOWN]],
            max(0, len(changes) - _TESTS_SHOWN),
        )
        for kind, changes in (found.tests or {}).items()
        if changes
    ]
    return {"tests": tests, "tests_note": found.tests_note, "files": patches, "files_note": found.files_note}


def _compared_value(change: MetricChange) -> ComparedValue:
    verdict = change.verdict if change.verdict in {"better", "worse"} else ""
    spec = BY_NAME.get(change.name)
    if spec is None:
        moved = "" if not change.change else f"{change.change:+.4f}"
        if moved and change.name == "adjusted_score":
            moved = f"{half_up((change.change or 0) * 100, 1):+g} %"
        told = percent if change.name == "adjusted_score" else score
        old, new = (value if isinstance(value, int | float) else None for value in (change.before, change.after))
        label = "Score" if change.name == "adjusted_score" else change.name
        return ComparedValue(label, told(old), told(new), moved, verdict)
    moved = "" if change.change is None else signed_text(change.change, spec)
    return ComparedValue(spec.label, number(change.before, spec), number(change.after, spec), moved, verdict)


def _diff(paths: LoopPaths, before: int, after: int, known: Differences | None = None) -> IterationDiff:
    """Compare two iterations; their differences are looked for unless they are `known`."""
    found = Listing(paths.loop_id, SealedRecords(paths))
    one, other = as_of_now(found, (found.one(before), found.one(after)))
    differences = differences_of(found.committed, before, after) if known is None else known
    return compared_documents(one.require(), other.require(), differences)


def loops_document(project: ProjectPaths, status_of: StatusOf) -> LoopsDocument:
    """Return where every loop of a project stands."""
    document: LoopsDocument = {"loops": [], "unreadable": {}}
    for paths in loops_of(project):
        try:
            document["loops"].append(status_of(paths))
        except RalphTrackerError as error:
            document["unreadable"][paths.loop_id] = str(error)
    return document


def history_document(paths: LoopPaths) -> list[Mapping[str, Any]]:
    """Return the records of a loop that can be read, as `history --json` does."""
    found = Listing(paths.loop_id, SealedRecords(paths))
    return [record.document for record in as_of_now(found, found.all()) if record.document is not None]


def iteration_document(paths: LoopPaths, iteration: int) -> dict[str, Any]:
    """Return an iteration with what led to it, as `show --json` does. Raises RecordError for a damaged one."""
    records = SealedRecords(paths)
    document = Listing(paths.loop_id, records).one(iteration).require()
    return {**document, "explanation": explanation_document(explain(records, document))}


def difference_document(paths: LoopPaths, before: int, after: int) -> Mapping[str, Any]:
    """Return what differs between two iterations, as `diff --json` does. Raises RecordError for a damaged one."""
    return diff_document(paths.loop_id, _diff(paths, before, after))


TOKEN: Final = "token"  # noqa: S105  # the name of the parameter
_COOKIE: Final = "ralph_tracker"
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_NUMBER: Final = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")
_LOOK_S: Final = 1.0
_LOOP, _API = "/loops/{loop_id}", "/api/loops/{loop_id}"
ADDRESS: Final = "127.0.0.1"


class Guard:
    """Refuse requests by Host, Origin, method and session before the application sees them.

    At the first of its hosts the token of the printed address is taken once and answered with a cookie, so that it does
    not stay in the address. A cookie goes to all ports of a host: nobody else has that name, and at the names that
    others have each request brings the token. Every answer forbids embedding, guessing of types and other sites.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Sequence[str]) -> None:
        self._app, self._token, self._session = app, token, secrets.token_urlsafe(32)
        self._hosts = [[host] for host in hosts]
        self._origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # uvicorn refuses what was not accepted

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [(name.lower(), value) for name, value in message["headers"]]
                nothing = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
                own = dict([*_HEADERS, nothing, *given])
                message = {**message, "headers": list(own.items())}
            await send(message)

        refused = self._refusal(scope)
        await (self._app if refused is None else refused)(scope, receive, answer)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that does not reach the application, None for one that does."""
        headers = Headers(scope=scope)
        hosts = [host.lower() for host in headers.getlist("host")]
        if hosts not in self._hosts:
            return PlainTextResponse(
                "this server answers only to the address that `ralph-tracker serve` printed\n", 421
            )
        if any(origin.lower() not in self._origins for origin in headers.getlist("origin")):
            return PlainTextResponse("requests of other sites are refused\n", 403)
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("read-only: only GET and HEAD are answered\n", 405)
        given = parse_qsl(scope["query_string"].decode("latin-1"))
        token = next((value for name, value in given if name == TOKEN), None)
        known = token is not None and _same(token, self._token)
        is_own = hosts == self._hosts[0]
        if known and not is_own:
            return None
        if known:
            rest = urlencode([(name, value) for name, value in given if name != TOKEN])
            path = f"/{quote(scope['path'].lstrip('/'))}{f'?{rest}' if rest else ''}"
            welcome = RedirectResponse(path, status_code=303)
            welcome.set_cookie(_COOKIE, self._session, httponly=True, samesite="strict")
            return welcome
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        session = cookies[_COOKIE].value if _COOKIE in cookies else ""
        if not is_own:  # a link of a page that was opened there; the own name is told to nobody without the token
            rest = urlencode([(name, value) for name, value in given if name != TOKEN])
            address = f"http://{hosts[0]}/{quote(scope['path'].lstrip('/'))}?{f'{rest}&' if rest else ''}{TOKEN}=…"
            return _refusal(headers, f"put the token that `ralph-tracker serve` printed into it: {address}", 403)
        if not _same(session, self._session):
            return _refusal(headers, "open the address with the token that `ralph-tracker serve` printed", 403)
        return None


def _same(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())


class Sources(NamedTuple):
    """What is known above this package: where a loop stands, and what happens in it (words, since when, output)."""

    status: StatusOf
    activity: Callable[[LoopPaths], tuple[str, float | None, str]]


class Answer(NamedTuple):
    """An answer as it is kept: its body, compressed, and whether it is what was asked for or a problem."""

    body: bytes
    status: int


class AnswerCache:
    """The latest answers, each made once per version of its loop, in a thread, however many ask for it at once."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, tuple[str, asyncio.Task[Answer]]] = OrderedDict()

    async def answer(self, address: str, version: str, make: Callable[[], Answer]) -> Answer:
        """Return the answer of that version."""
        found = self._tasks.get(address)
        if found is None or found[0] != version:
            found = version, asyncio.create_task(asyncio.to_thread(make))
            self._tasks[address] = found
            while len(self._tasks) > 24:
                self._tasks.popitem(last=False)
        else:
            self._tasks.move_to_end(address)
        try:
            answer = await asyncio.shield(found[1])
        except Exception:
            self._forget(address, found)
            raise
        if answer.status != 200:
            self._forget(address, found)
        return answer

    def _forget(self, address: str, found: tuple[str, asyncio.Task[Answer]]) -> None:
        """Let the next request try again what failed."""
        if self._tasks.get(address) is found:
            del self._tasks[address]


class _Site:
    """The handlers of all addresses of a project. Ids are looked up among the loops that are there."""

    def __init__(self, project: ProjectPaths, sources: Sources) -> None:
        self._project, self._sources, self._kept = project, sources, AnswerCache()
        self._told: dict[str, tuple[float, str]] = {}

    async def loops(self, request: Request) -> Response:
        chosen, sort = self._loops_named(request.query_params.getlist("loop")), request.query_params.get("sort", "")
        return await self._page(request, lambda live: loops_page(self._project, chosen, sort, live))

    async def loop(self, request: Request) -> Response:
        paths = self._loop(request)

        def page(live: LivePage) -> str:
            return loop_page(LoopStore(paths), self._sources.status(paths)["next_step"], live)

        return await self._page(request, page, paths)

    async def plan(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in plans_of(self._project):
            raise HTTPException(404, "no such plan")
        return await self._page(request, lambda live: plan_page(self._project, name, live))

    async def diff(self, request: Request) -> Response:
        paths, before, after = self._iterations(request, "before", "after")
        return await self._page(request, lambda live: diff_page(paths, before, after, live), paths)

    async def iteration(self, request: Request) -> Response:
        paths, number = self._iterations(request, "iteration")
        return await self._page(request, lambda live: iteration_page(paths, number, live), paths)

    async def events(self, request: Request) -> Response:
        """Answer with what happens in a loop, or in the loops of the project where none is named."""
        paths = self._loop(request) if "loop_id" in request.path_params else None
        return EventSourceResponse(self._events(paths), ping=30)

    def _loops_named(self, names: Sequence[str]) -> list[LoopPaths]:
        """Return the loops of these names; of a request with an unknown one or too many, a refusal."""
        known = {paths.loop_id: paths for paths in loops_of(self._project)}
        if any(name not in known for name in names):
            raise HTTPException(404, "no such loop")
        if len(set(names)) > COMPARED:
            raise HTTPException(400, f"at most {COMPARED} loops are compared at once")
        return [known[name] for name in dict.fromkeys(names)]

    def _loop(self, request: Request) -> LoopPaths:
        return self._loops_named([request.path_params["loop_id"]])[0]

    def _iterations(self, request: Request, *names: str) -> tuple[Any, ...]:
        """Return the loop of a request, and its iterations that the parameters of these names name."""
        paths, numbers = self._loop(request), []
        try:
            last = summary_at(paths).iteration
        except RalphTrackerError as error:
            raise HTTPException(500, str(error)) from None
        for name in names:
            given = str(request.path_params.get(name, request.query_params.get(name, "")))
            if not _NUMBER.match(given) or int(given) > last:
                raise HTTPException(404, f"no such iteration; loop {paths.loop_id} has 0 to {last}")
            numbers.append(int(given))
        return (paths, *numbers)

    async def _page(
        self,
        request: Request,
        make: Callable[[LivePage], str],
        loop: LoopPaths | None = None,
    ) -> Response:
        """Answer with a page of a loop or of the project, made anew once its version changed."""
        version = self._version(loop)
        address = request.url.path
        home = "" if loop is None else f"/loops/{loop.loop_id}"
        above = () if loop is None or address == home else ((loop.loop_id, home),)
        live = LivePage(f"{home}/events", version, None if address == "/" else above)

        def made() -> Answer:
            try:
                return _answer(make(live))
            except RalphTrackerError as error:
                title = "The loops" if loop is None else f"Loop {loop.loop_id}"
                values = {"title": title, "problem": f"It cannot be read: {error}", "home": ""}
                return _answer(fill_page("problem.html.j2", values, live), 500)

        answer = await self._kept.answer(f"{address}?{request.url.query}", version, made)
        policy = f"{policy_of(live=True)}; frame-ancestors 'none'"
        return _response(request, answer, "text/html", {"content-security-policy": policy})

    def _version(self, loop: LoopPaths | None) -> str:
        """Return the version of a loop, of the project with its plans where none is named."""
        if loop is not None:
            return version_of([loop])
        return version_of(loops_of(self._project), plans_of(self._project).values())

    def document(self, make: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler that answers with what `make` returns, as JSON."""

        async def handler(request: Request) -> Response:
            def made() -> Answer:
                try:
                    return _answer(json.dumps(make(request)))
                except RalphTrackerError as error:
                    return _answer(json.dumps({"error": str(error)}), 500)

            return _response(request, await asyncio.to_thread(made), "application/json")

        return handler

    def documents(self) -> Mapping[str, Callable[[Request], Any]]:
        """Return the addresses of documents, each with what makes its own."""
        status = self._sources.status
        return {
            "/api/loops": lambda _: loops_document(self._project, status),
            f"{_API}/status": lambda request: status(self._loop(request)),
            f"{_API}/history": lambda request: history_document(self._loop(request)),
            f"{_API}/iterations/{{iteration}}": lambda request: iteration_document(
                *self._iterations(request, "iteration")
            ),
            f"{_API}/diff": lambda request: difference_document(*self._iterations(request, "before", "after")),
        }

    async def _events(self, loop: LoopPaths | None) -> AsyncIterator[Mapping[str, str]]:
        """Yield what happens now and the version of the record, at once and whenever one of them changes."""
        told = ""
        while True:
            shown = loops_of(self._project) if loop is None else (loop,)
            key = " ".join(paths.loop_id for paths in shown)
            at, now = self._told.get(key, (-math.inf, ""))
            if monotonic() - at >= _LOOK_S / 2:  # looked at once for all viewers
                now = self._now(shown, self._version(loop))
                self._told[key] = monotonic(), now
            if now != told:
                yield {"data": now}
                told = now
            await asyncio.sleep(_LOOK_S)

    def _now(self, loops: Sequence[LoopPaths], version: str) -> str:
        what, since, said = ("", None, "")
        current = current_of(self._project) if len(loops) != 1 else loops[0].loop_id
        shown = next((paths for paths in loops if paths.loop_id == current), None)
        if shown is not None:
            try:
                what, since, said = self._sources.activity(shown)
            except RalphTrackerError as error:
                what = f"it cannot be read: {error}"
        if len(loops) > 1 and shown is not None:
            what = f"{shown.loop_id}: {what}"
        return json.dumps({"version": version, "what": what, "since": since, "said": said})


def _answer(text: str, status: int = 200) -> Answer:
    return Answer(gzip.compress(text.encode("utf-8", "replace"), 1), status)


def _response(request: Request, answer: Answer, kind: str, headers: Mapping[str, str] = {}) -> Response:
    packed = "gzip" in request.headers.get("accept-encoding", "")
    body = answer.body if packed else gzip.decompress(answer.body)
    encoding = {"content-encoding": "gzip"} if packed else {}
    return Response(body, answer.status, {**headers, **encoding, "vary": "accept-encoding"}, kind)


def _refusal(headers: Headers, why: str, status: int, home: str = "") -> Response:
    """Return why a request is refused: as a page to a browser, with a link to `home` if any, as text to others."""
    if "text/html" not in headers.get("accept", ""):
        return PlainTextResponse(f"{why}\n", status)
    values = {"title": "Nothing to see here", "problem": f"{why[:1].upper()}{why[1:]}.", "home": home}
    policy = f"{policy_of(live=False)}; frame-ancestors 'none'"
    page = fill_page("problem.html.j2", values)
    return Response(page, status, {"content-security-policy": policy}, "text/html")


async def _error_response(request: Request, error: Exception) -> Response:
    bug = f"a bug in ralph-tracker: {type(error).__name__}: {error}; please report it"
    status, why = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, bug)
    if request.url.path.startswith("/api/"):
        return Response(json.dumps({"error": why}), status, media_type="application/json")
    return _refusal(request.headers, why, status, home="/")


def application(project: ProjectPaths, sources: Sources, token: str, own: str, port: int) -> ASGIApp:
    """Return the application for a project, for requests with the token to this port of `own` and of this machine."""
    policy_of(live=True)  # loads the templates, for which the first page would wait
    site = _Site(project, sources)
    routes = {
        "/": site.loops,
        "/compare": site.loops,
        "/events": site.events,
        "/plans/{name}": site.plan,
        _LOOP: site.loop,
        f"{_LOOP}/diff": site.diff,
        f"{_LOOP}/iterations/{{iteration}}": site.iteration,
        f"{_LOOP}/events": site.events,
        **{path: site.document(make) for path, make in site.documents().items()},
    }
    app = Starlette(
        routes=[Route(path, handler) for path, handler in routes.items()],
        exception_handlers={HTTPException: _error_response, Exception: _error_response},
    )
    return Guard(app, token, [f"{name}:{port}" for name in (own, ADDRESS, "localhost")])


def open_socket(port: int) -> socket.socket:
    """Return a socket on the loopback interface; 0 is any free port. Raises StoreError if the port is taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(128)  # who opens the address at once has to wait, not to try again
    except OSError as error:
        listener.close()
        raise StoreError(f"port {port}: {error.strerror}; take another one with --port") from None
    return listener


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Answer requests until a signal ends it; the loop's own processes come first."""
    with suppress(OSError):
        os.nice(10)
    # Addresses hold the token: they are not logged.
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="critical",
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])
