"""The configuration's keys are the core's thresholds: the same names, the same defaults."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ralph_tracker.config.load import thresholds_of
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.core.thresholds import DIMENSIONS, SELECTION_MODES, Thresholds
from ralph_tracker.formats.parsed_report import SEVERITIES
from tests.tables import table

CORE = ["loop", "alerts", "classification", "stall", "cycling", "decision"]


def test_the_defaults_are_those_of_the_core():
    assert thresholds_of(ConfigDocument().model_dump()) == Thresholds()


@table("section", CORE)
def test_every_threshold_of_the_core_is_a_key(section):
    thresholds = getattr(Thresholds(), section)
    assert set(type(getattr(ConfigDocument(), section)).model_fields) == set(thresholds._fields)


@table("section", CORE)
def test_every_key_reaches_the_core(section):
    for name, value in ConfigDocument().model_dump()[section].items():
        other: Any = "green" if name == "until" else {int: 7, float: 0.25, type(None): 0.5}[type(value)]
        thresholds = thresholds_of(ConfigDocument.model_validate({section: {name: other}}).model_dump())
        assert getattr(getattr(thresholds, section), name) == other


def test_weights_acceptance_and_mode_reach_the_core():
    weights = dict.fromkeys(DIMENSIONS, 0.2)
    document = {"score": {"weights": weights, "acceptance": 0.5}, "selection": {"mode": SELECTION_MODES[2]}}
    thresholds = thresholds_of(ConfigDocument.model_validate(document).model_dump())
    assert (thresholds.score.weights, thresholds.score.acceptance, thresholds.selection.mode) == (
        weights,
        0.5,
        SELECTION_MODES[2],
    )


@given(st.lists(st.integers(0, 20), min_size=5, max_size=5))
def test_weights_are_taken_where_they_sum_to_one(parts):
    weights = {name: part / 20 for name, part in zip(DIMENSIONS, parts, strict=True)}
    try:
        ConfigDocument.model_validate({"score": {"weights": weights}})
        taken = True
    except ValidationError:
        taken = False
    assert taken is (sum(parts) == 20)


@pytest.mark.parametrize(("alias", "name"), [("hardLimitUsd", "max_cost_usd"), ("warnAtUsd", "warn_at_usd")])
def test_the_names_of_the_seeds_are_taken_too(alias, name):
    loop = ConfigDocument.model_validate(yaml.safe_load(f"loop: {{{alias}: 5}}")).loop
    assert getattr(loop, name) == 5.0
    assert loop.model_dump()[name] == 5.0
    assert {alias, name} <= ConfigDocument.model_json_schema()["$defs"]["Loop"]["properties"].keys()


def test_severities_of_lint_findings_go_by_the_beginning_of_their_codes():
    assert ConfigDocument().severity == {}
    given = {"E": "error", "W": "none", "clippy::": "warning", "": "note"}
    assert ConfigDocument.model_validate({"severity": given}).severity == given
    assert ConfigDocument.model_json_schema()["properties"]["severity"]["additionalProperties"]["enum"] == [*SEVERITIES]


@table("severity", [{"E": "off"}, {"E": False}, {"E": "ERROR"}, {"E": None}, ["E"], None, {1: "note"}])
def test_other_severities_are_refused(severity):
    with pytest.raises(ValidationError, match="severity"):
        ConfigDocument.model_validate({"severity": severity})


def test_every_section_is_exact_and_strict():
    for name, field in ConfigDocument.model_fields.items():
        if name not in {"version", "plan", "checks", "severity", "prices", "metrics", "objectives", "quarantine"}:
            with pytest.raises(ValidationError, match="extra_forbidden"):
                ConfigDocument.model_validate({name: {"surprise": 1}})
            assert field.get_default().model_config["strict"]


def test_a_loop_that_began_when_other_checkers_could_be_named_goes_on_with_our_rules():
    assert ConfigDocument.model_validate({"integrity": {"tool": "builtin"}}) == ConfigDocument()
    with pytest.raises(ValidationError, match=r"integrity\.tool"):
        ConfigDocument.model_validate({"integrity": {"tool": "checkwash"}})
