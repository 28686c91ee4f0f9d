"""Which tests belong to which files, and what counts as changed."""

import subprocess

import pytest


@pytest.fixture(scope="module")
def changed(tool):
    return tool("changed_tests")


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/colabel/decoders/graph_cut.py", "tests/decoders/test_graph_cut.py"),
        ("src/colabel/decoders/graph_cut.py", "tests/conformance/test_decoders.py"),
        ("src/colabel/losses/fbeta.py", "tests/conformance/test_losses.py"),
        ("src/colabel/neighbors/_knn.py", "tests/neighbors/test_knn.py"),
        ("src/colabel/base.py", "tests/test_base.py"),
        ("src/colabel/cli/_text.py", "tests/cli/test_tune.py"),  # through those that import it
        ("tests/oracles.py", "tests/decoders/test_expected_f.py"),
        ("tests/cli/conftest.py", "tests/cli/test_errors.py"),
        ("tests/test_scores.py", "tests/test_scores.py"),
        ("tools/walk.py", "tests/tools/test_walk.py"),
        ("docs/guide/command-line.md", "tests/cli/test_page.py"),
        ("examples/new_loss.py", "tests/test_pages.py"),
    ],
)
def test_a_file_brings_its_tests(changed, file, expected):
    assert expected in changed.tests_of([file])


def test_tests_of_the_whole_source_always_run(changed):
    always = changed.tests_of([])
    assert "tests/test_layers.py" in always
    assert changed.tests_of(["src/colabel/gone.py", "tests/test_gone.py"]) == always


def test_an_everyday_change_does_not_bring_everything(changed):
    for file in ("src/colabel/decoders/graph_cut.py", "src/colabel/decoders/__init__.py"):
        assert len(changed.tests_of([file])) < 20


@pytest.fixture
def repository(changed, tmp_path, monkeypatch):
    """An empty repository on its main branch, and what makes a file and commits it."""

    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(name):
        (tmp_path / name).write_text(name)
        git("add", "-A")
        git("commit", "-m", name)

    git("init", "-b", "main")
    commit("first")
    commit("second")
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    return git, commit, tmp_path


def test_on_the_main_branch_what_is_not_committed_counts(changed, repository):
    _, _, folder = repository
    (folder / "first").write_text("other")
    (folder / "new").write_text("new")
    assert changed.changed_files() == ["first", "new"]


def test_on_the_main_branch_with_all_committed_the_last_commit_counts(changed, repository):
    assert changed.changed_files() == ["second"]


def test_on_another_branch_all_that_differs_counts(changed, repository):
    git, commit, folder = repository
    git("checkout", "-b", "work")
    assert changed.changed_files() == ["second"], "nothing differs yet: the last commit"
    commit("third")
    commit("fourth")
    (folder / "fifth").write_text("fifth")
    (folder / "first").unlink()
    assert changed.changed_files() == ["fifth", "first", "fourth", "third"]
    git("checkout", "main")
    assert (folder / "fifth").exists()
