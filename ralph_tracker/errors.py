"""The exceptions and exit codes of ralph-tracker:

    RalphTrackerError             expected: one line that says what, where and what to do next (exit 1)
    ├── InputError                metrics, usage or arguments that are inconsistent or not numbers
    ├── ConfigError               a configuration key or value that cannot be used
    ├── LoopError                 a hook called out of order, an unknown loop, an unfinished one
    │   ├── NotRecordedError      the last iteration was not recorded
    │   └── NoSnapshotError       files were requested that were never kept
    │       └── CollectedError    files that gc removed
    ├── RecordError               a stored document that is damaged or missing
    ├── NewerSchemaError          a stored document that a newer version wrote; never treated as damage
    ├── NotReproducedError        an iteration whose measurement differs from its record
    ├── UntrustedError            commands that came with a project, which this user has neither started nor accepted
    └── StoreError                the loop folder cannot be read, written or locked

Terminated stands beside KeyboardInterrupt: a request to end. Any other exception is a bug (exit 70).
"""

from typing import Final

EXIT_OK: Final = 0
EXIT_FAILURE: Final = 1
EXIT_USAGE: Final = 2
EXIT_REGRESSION: Final = 3
EXIT_NOT_MEASURED: Final = 4
EXIT_STOP: Final = 10
EXIT_ROLLBACK: Final = 11
EXIT_ESCALATE: Final = 12
EXIT_BUG: Final = 70
EXIT_SIGNAL: Final = 128  # plus the number of the signal: 143 SIGTERM, 129 SIGHUP
EXIT_INTERRUPTED: Final = 130


class RalphTrackerError(Exception):
    """An expected failure; its text is the one line that the user reads."""


class InputError(RalphTrackerError): ...


class ConfigError(RalphTrackerError): ...


class LoopError(RalphTrackerError): ...


class NotRecordedError(LoopError): ...


class NoSnapshotError(LoopError): ...


class CollectedError(NoSnapshotError): ...


class RecordError(RalphTrackerError): ...


class NewerSchemaError(RalphTrackerError): ...


class NotReproducedError(RalphTrackerError): ...


class UntrustedError(RalphTrackerError):
    """A refusal to run what came with a project: this user has neither started nor accepted it."""


class StoreError(RalphTrackerError): ...


class Terminated(BaseException):  # like KeyboardInterrupt, so that `except Exception` does not catch it
    """The request of another process, by a signal, to end; it unwinds everything like Ctrl-C.

    `next_step` is what a person can do then, "" if nothing needs to be done.
    """

    def __init__(self, number: int, next_step: str = "") -> None:
        super().__init__(number)
        self.number = number
        self.next_step = next_step
