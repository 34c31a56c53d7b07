"""The files that decide about tests and differ between this iteration and earlier ones, with the tests they concern."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Final

from ralph_tracker.integrity.deciding_files import DecidingFiles, is_code, is_named, kind_of_file
from ralph_tracker.integrity.fates import Edit, Lost
from ralph_tracker.integrity.inline_tests import differ, parted, with_tests
from ralph_tracker.integrity.missing_names import gone_from_source, is_import_failure, missing_names
from ralph_tracker.integrity.report_ids import files_of, text_of
from ralph_tracker.integrity.runner_settings import settings_for_retry
from ralph_tracker.iteration.file_forms import EarlierFile, FileForms, Texts
from ralph_tracker.store.snapshots.snapshot_types import Change

_CONDITION: Final = re.compile(
    r"skip_?[iI]f|skip[uU]nless|runIf|\bplatform|sys\.version|os\.name|get(?:e)?uid|GOOS|cfg\(|assum|EnabledOn|DisabledOn"
)
_EXPECTS_ERROR: Final = re.compile(
    r"raises|assertRaises|toThrow|rejects|throws|should_panic|expectException|raise_error"
)
# What brings names into a file.
_IMPORT: Final = re.compile(r"\b(?:import|require|from|use)\b")
_WORD: Final = re.compile(r"\w+")
# A name of another module is given another value while a test file is loaded.
_PATCHES: Final = re.compile(
    r"^(?!(?:module\.)?exports\b)(?:[A-Za-z_$][\w$]*\.)+[\w$]+\s*=(?![=>])|^setattr\(|^sys\.modules\[", re.MULTILINE
)


class DecidingChanges:
    """The deciding files that differ from those of the kept iteration.

    `files` are those of this iteration, `kept` and `head` the iterations that it is compared with and descends from.
    `references` maps edited test files to the iteration of the form that is still run, `tests` are all known ids,
    `commands` those of the checks. `ignored` are settings that git ignores and that changed since the loop began: of
    their earlier form is known that it was another one, so they are left out where that is run.
    """

    def __init__(
        self,
        files: FileForms,
        kept: int,
        head: int,
        references: Mapping[str, int],
        tests: Collection[str],
        commands: Iterable[str | Sequence[str]],
        ignored: Iterable[str] = (),
    ) -> None:
        self.files = files
        self.kept = kept
        self.head = head
        self._references = references
        self._tests = tests
        self._commands = tuple(commands)
        self._ignored = {path: Change(path, "M", None, None, None, None) for path in ignored}

    @cached_property
    def decides(self) -> DecidingFiles:
        kept, files = self.kept, self.files
        return DecidingFiles(
            files.paths_in(kept),
            files.ids.keys(),
            files.since(kept).keys(),
            lambda paths: files.both(paths, kept),
            self._commands,
        )

    def deciding(self, number: int) -> dict[str, Change]:
        """Return the changes since an iteration that decide about tests, those of tests inside source among them."""
        changes = self.files.since(number).items()
        deciding = {path: each for path, each in changes if self.decides.kind(path) or self._is_inline(path, number)}
        return deciding | self._ignored

    def _is_inline(self, path: str, number: int) -> bool:
        change = self.files.since(number).get(path)
        if change is None or change.old_id is None or change.new_id is None or not is_code(path):
            return False
        return differ(path, self.files.then(path, number), self.files.now(path))

    def is_source_changed(self, number: int) -> bool:
        """Return whether program source differs from an iteration, apart from the tests inside of it.

        Data that only tests read counts too where it lies outside of them: it may be what the task asks for.
        """
        return any(
            self.decides.may_be_asked_for(path)
            and not (self._is_inline(path, number) and self._is_same_beside(path, number))
            for path in self.files.since(number)
        )

    def both_tests(self, path: str) -> tuple[str, str]:
        """Return the earlier and the present form of a file; of source with tests in it, of these tests."""
        then, now = self.files.then(path, self.kept), self.files.now(path)
        if self.decides.kind(path) is None and self._is_inline(path, self.kept):
            return parted(path, then)[1], parted(path, now)[1]
        return then, now

    def _is_same_beside(self, path: str, number: int) -> bool:
        was, now = (parted(path, text)[0].split() for text in (self.files.then(path, number), self.files.now(path)))
        return was == now

    @cached_property
    def changed(self) -> dict[str, Change]:
        return self.deciding(self.kept)

    @cached_property
    def _texts(self) -> Texts:
        """Return the texts of everything that may hold tests, of this iteration and the kept one."""
        kept = self.kept
        paths = [path for path in (*self.files.ids, *self.files.since(kept)) if is_code(path)]
        holding = [path for path in paths if self.decides.kind(path) in {"test", "support"} or path in self.changed]
        if any(path.endswith(".rs") for path in paths):
            holding += [path for path in paths if path.endswith(".rs")]
        for number in {*self._references.values()}:
            holding += [path for path in self.files.since(number) if kind_of_file(path) == "test"]
        return self.files.both(holding, kept)

    @cached_property
    def _files_of(self) -> Mapping[str, tuple[str, ...]]:
        return files_of(self._tests, self._texts)

    def own_files(self, test: str) -> tuple[str, ...]:
        """Return the files that may hold a test, () where it is not known."""
        return self._files_of.get(test, ())

    def edits(self, test: str) -> tuple[bool, Mapping[str, Edit]]:
        """Return whether a test was edited, itself or in a file that it names, and the changes that concern it."""
        return self._edits_of(self.own_files(test))

    @cached_property
    def _edits_of(self) -> Callable[[tuple[str, ...]], tuple[bool, Mapping[str, Edit]]]:
        return cache(self._find_edits)

    def _find_edits(self, own: tuple[str, ...]) -> tuple[bool, Mapping[str, Edit]]:
        edits = [path for path in own if path in self.changed]
        for path in self.changed:
            kinds = {"support", "data"} if own else {"test", "support", "data"}  # the file of the test may be any
            if self.decides.kind(path) not in kinds or path in edits:
                continue
            if not own or self._names(own, path):
                edits.append(path)
        edited = bool(edits)
        edits += [path for path in self.changed if path not in edits and self.reaches_others(path)]
        return edited, {path: self._edit(path) for path in edits or self.changed}

    @cached_property
    def _names(self) -> Callable[[tuple[str, ...], str], bool]:
        """Return whether test files name another file, or own it as their snapshot."""
        return cache(
            lambda own, path: (
                is_named(path, [self._texts[file] for file in own])
                or any(path.rpartition("/")[2].startswith(file.rpartition("/")[2]) for file in own)
            )
        )

    def concerns(self, path: str, own: tuple[str, ...]) -> bool:
        """Return whether a file decides about the tests of these files: holds them, is named there, or always loads."""
        return path in own or self.decides.loads_by_itself(path) or self._names(own, path)

    def _edit(self, path: str) -> Edit:
        if path in self._ignored:
            return "ignored by git and newer than the loop"
        change = self.changed[path]
        return "new" if change.old_id is None else "gone" if change.new_id is None else "edited"

    def reaches_others(self, path: str) -> bool:
        """Return whether a changed file decides about tests of other files: one that runners load, or that patches."""
        if self.decides.loads_by_itself(path):
            return True
        if self.decides.kind(path) != "test" or not is_code(path):
            return False
        return bool(set(_PATCHES.findall(self._texts[path])) - set(_PATCHES.findall(self.files.then(path, self.kept))))

    def is_edited_start_up(self, path: str) -> bool:
        """Return whether a file was edited that runners load though no test names it, and that is no settings."""
        return (
            self._edit(path) == "edited" and self.decides.kind(path) == "support" and self.decides.loads_by_itself(path)
        )

    def forms(self, number: int, references: Mapping[str, int]) -> list[EarlierFile]:
        """Return the form of every deciding file in an iteration, of references that in theirs."""
        wanted = {**dict.fromkeys(self.deciding(number), number), **references}
        return [form for path, of in sorted(wanted.items()) if (form := self._form(path, of)) is not None]

    def _form(self, path: str, number: int) -> EarlierFile | None:
        if path in self._ignored:
            return EarlierFile(path, None, None, number)
        form = self.files.form(path, number)
        if form is not None and self.decides.kind(path) is None and self._is_inline(path, number):
            text = with_tests(path, self.files.now(path), self.files.then(path, number))
            return form._replace(content=text.encode())
        return form

    def is_newer(self, path: str) -> bool:
        """Return whether only the iterations after the kept one have a file, in another form than this one."""
        change, later = self.changed.get(path), self.files.since(self.head).get(path)
        return change is not None and change.old_id is None and later is not None and later.old_id is not None

    def retry_forms(self, references: Mapping[str, int]) -> list[EarlierFile]:
        """Return the forms with the settings that the new source needs, none where they are the same."""
        kept, changed = self.kept, False
        forms = {each.path: each for each in self.forms(kept, references)}
        for path, change in self.changed.items():
            if self.decides.kind(path) != "settings":
                continue
            earlier = None if change.old_id is None else self.files.then(path, kept)
            now = None if change.new_id is None else self.files.now(path)
            text = settings_for_retry(path, earlier, now)
            if text != earlier and text is not None:
                changed = True
                form = forms[change.path]
                mode, object_id = form.mode or change.new_mode, form.object_id or change.new_id
                forms[change.path] = form._replace(mode=mode, object_id=object_id, content=text.encode())
        return list(forms.values()) if changed else []

    def present_forms(self, number: int) -> Iterator[EarlierFile]:
        """Yield this iteration's form of every deciding file, to be put over the kept iteration's source."""
        kept = self.kept
        for path, change in self.changed.items():
            if path in self._ignored:
                continue
            content = None
            if self.decides.kind(path) is None:
                content = with_tests(path, self.files.then(path, kept), self.files.now(path)).encode()
            yield EarlierFile(change.path, change.new_mode, change.new_id, number, content)

    def lost(self, failure: str) -> tuple[Lost | None, str]:
        """Return how the source lost a name that a failure reports as missing, and that name."""
        names = missing_names(failure)
        if not names:
            return None, ""
        before, after = self._source_texts
        gone = next((name for name in names if gone_from_source(name, before, after)), None)
        if gone is not None:
            return "gone", gone
        held = [name for name in names if gone_from_source(name, before, {})]
        return ("moved", held[0]) if held and is_import_failure(failure) else (None, "")

    @cached_property
    def _source_texts(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the changed source, as it was and as it is."""
        oldest = min((self.kept, *self._references.values()))
        changes = {
            path: each
            for path, each in self.files.since(oldest).items()
            if is_code(path) and self.decides.kind(path) is None
        }
        before = {path: self.files.text(each.old_id) for path, each in changes.items() if each.old_id}
        return before, {path: self.files.text(each.new_id) for path, each in changes.items() if each.new_id}

    def is_conditional(self, test: str) -> bool:
        """Return whether its file has a new condition on platform, user or version."""
        sides = [(self.files.then(path, self.kept), self.files.now(path)) for path in self.own_files(test)]
        return any(
            _CONDITION.search(line) for then, now in sides for line in now.splitlines() if line not in then.splitlines()
        )

    def lost_in(self, test: str) -> tuple[Lost | None, str]:
        """Return a name that the earlier form of a test imports and the source lost, where no failure says so."""
        before, after = self._source_texts
        used = set(_WORD.findall(self._body(test)))
        for path in self.own_files(test):
            for line in filter(_IMPORT.search, self.files.then(path, self.kept).splitlines()):
                for name in used.intersection(_WORD.findall(line)):
                    if gone_from_source(name, before, after):
                        return "gone", name
        return None, ""

    def expects_error(self, test: str) -> bool:
        """Return whether the earlier form of a test expects an error."""
        return _EXPECTS_ERROR.search(self._body(test)) is not None

    def _body(self, test: str) -> str:
        """Return the text of the earlier form of a test; "" if it is not found."""
        found = (text_of(test, self.files.then(path, self.kept)) for path in self.own_files(test))
        return next(filter(None, found), "")
