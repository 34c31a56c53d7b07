"""The programs that scripts call: which of them check something, and what."""

from typing import Final, Literal

from ralph_tracker.integrity.patterns import Pattern

Kind = Literal["test", "lint", "types", "coverage", "security", "format", "any", "other", "nothing"]
_TESTING: Final = (
    "pytest py.test unittest nosetests nose2 trial jest vitest mocha ava karma cypress playwright gotestsum ctest"
    " prove rspec nextest runtests runtests.py stestr zope-testrunner"
)
_LINTING: Final = (
    "ruff flake8 pylint eslint golangci-lint clippy shellcheck staticcheck biome oxlint"
    " pre-commit prek codespell pycodestyle pyflakes pydocstyle pydoclint vulture vet stylelint interrogate pylama"
)
_FORMATTING: Final = "black isort prettier yapf autopep8 fmt gofmt"
_SECURING: Final = "bandit safety pip-audit semgrep gitleaks detect-secrets trivy"
_TYPING: Final = "mypy dmypy pyright basedpyright tsc ty pyre pytype vue-tsc pyrefly"
_NO_CHECKS: Final = (
    "pip pip3 pipx apt apt-get brew choco yum dnf apk cp mv rm mkdir cat ls git curl wget tar unzip touch chmod export"
    " source . ln sed awk grep find head tail sleep which if elif fi for done while case esac { } ! [ [["
    " docker-compose actionlint twine gh codecov coveralls"
)
_MANAGING: Final = "pip pip3 uv poetry pdm pipenv rye npm yarn pnpm bun conda mamba micromamba hatch cargo go"
_KEEPING_HOUSE: Final = "install add sync update upgrade lock ci i export build publish"
_WITH_TARGETS: Final = "make gmake just task invoke inv poe npm yarn pnpm bun hatch pdm rye tox nox"
NOTHING: Final = frozenset({"echo", "printf", "true", ":", "exit", "return", "set", "cd", "pwd", "date"})
INERT: Final = frozenset(_NO_CHECKS.split())
HOUSEKEEPING: Final = frozenset(_KEEPING_HOUSE.split())
MANAGERS: Final = frozenset(_MANAGING.split())
RUNS_TARGETS: Final = frozenset(_WITH_TARGETS.split())
OF_ANY_KIND: Final = frozenset({"tox", "nox", "make", "just"})
PROGRAMS: Final[dict[str, Kind]] = {
    **dict.fromkeys(_TESTING.split(), "test"),
    **dict.fromkeys(_LINTING.split(), "lint"),
    **dict.fromkeys(_TYPING.split(), "types"),
    **dict.fromkeys(_FORMATTING.split(), "format"),
    **dict.fromkeys(_SECURING.split(), "security"),
    **dict.fromkeys(("tox", "nox", "mvn", "mvnw", "gradle", "gradlew"), "any"),
}
_BY_NAME: Final[tuple[tuple[Pattern, Kind], ...]] = (
    (Pattern(r"(?<![a-z])(tests?|testing|specs?|e2e|unittests?|pytest)(?![a-z])"), "test"),
    (Pattern(r"(?<![a-z])(lint\w*|style|format\w*|ruff|flake8|eslint)(?![a-z])"), "lint"),
    (Pattern(r"(?<![a-z])(types?|typing|typecheck|mypy|pyright|tsc)(?![a-z])"), "types"),
    (Pattern(r"(?<![a-z])(checks?|ci|verify|all|qa|validate)(?![a-z])"), "any"),
)


def kind_by_name(text: str) -> Kind | None:
    """Return which check a target or script does by its name, None where the name says nothing."""
    return next((kind for pattern, kind in _BY_NAME if pattern.search(text.lower())), None)
