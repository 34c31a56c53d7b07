"""What can go wrong, as one tree:

    RalphTrackerError             expected: one line that says what, where and what to do next (exit 1)
    ├── InputError                metrics, usage or arguments that contradict themselves or are no numbers
    ├── ConfigError               a configuration key or value that cannot be used
    ├── LoopError                 a hook out of order, an unknown loop, an unfinished one
    │   ├── NotRecordedError      the last iteration did not reach its record
    │   └── NoSnapshotError       files were asked for that nothing has kept
    │       └── CollectedError    those that gc took away
    ├── RecordError               a stored document that is damaged or missing
    ├── NewerSchemaError          a stored document that a newer version wrote; never taken for damage
    ├── NotReproducedError        an iteration that measures otherwise than its record says
    └── StoreError                the loop folder cannot be read, written or locked

Everything else that is raised is a bug of ours (exit 70).
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
EXIT_SIGNAL: Final = 128  # and the number of the signal that ended us: 143 SIGTERM, 129 SIGHUP
EXIT_INTERRUPTED: Final = 130


class RalphTrackerError(Exception):
    """An expected failure; its text is the one line that a user reads."""


class InputError(RalphTrackerError): ...


class ConfigError(RalphTrackerError): ...


class LoopError(RalphTrackerError): ...


class NotRecordedError(LoopError): ...


class NoSnapshotError(LoopError): ...


class CollectedError(NoSnapshotError): ...


class RecordError(RalphTrackerError): ...


class NewerSchemaError(RalphTrackerError): ...


class NotReproducedError(RalphTrackerError): ...


class StoreError(RalphTrackerError): ...
