"""Define the names that OTLP receivers see, in one place, because dashboards are built on them.

Those of events are of the semantic conventions of OpenTelemetry for generative AI (Development, as of 1.38).
"""

from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.38.0"
SERVICE: Final = "ralph-tracker"
# Each value of an iteration is a gauge of this name and the value's: ralph_tracker.score.quality.
METRIC_PREFIX: Final = "ralph_tracker."
UNITS: Final = {
    "usage.cost_usd": "USD",
    "usage.duration_s": "s",
    "testing.pass_rate": "%",
    "testing.coverage_percentage": "%",
    "integrity.union_rate": "%",
}
LOOP: Final = "ralph_tracker.loop.id"
LOOP_KEY: Final = "ralph_tracker.loop.key"
ITERATION: Final = "ralph_tracker.iteration"
PROJECT: Final = "ralph_tracker.project"
# An event for each of these scores of an iteration.
EVALUATION: Final = "gen_ai.evaluation.result"
EVALUATIONS: Final = {"score.quality": "quality_score", "score.adjusted": "adjusted_score"}
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
# An event for each alert.
ALERT: Final = "ralph_tracker.alert"
ALERT_ID: Final = "ralph_tracker.alert.id"
ALERT_TYPE: Final = "ralph_tracker.alert.type"
