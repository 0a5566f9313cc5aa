"""Questions from git history, on a small repository written for it: what is asked, answered, dropped and why."""

import os
import subprocess

import pytest

from codekb.history import History
from codekb.questions_git import clean_message, questions_from_git, write_tree

ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip

STORE = '''\
class Store:
    def get(self, key):
        """Gets it."""
        return self.keys[key]

    def put(self, key):
        def inner():
            return 1
        self.keys[key] = inner()


def gone():
    return 0
'''

GO = "package store\n\n// Get gets.\nfunc Get(k string) string {\n\treturn values[k]\n}\n"


def git(folder, *arguments, **extra):
    subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=os.environ | ENVIRONMENT | extra
    )


CHANGED = STORE.replace("return 0", "return 3")
SAME = "no existing function changed"


class Repo:
    def __init__(self, folder):
        self.folder = folder
        git(folder, "init", "-q", "-b", "main")

    def commit(self, message, author="Ann", **files):
        for path, text in files.items():
            target = self.folder / path.replace("__", "/").replace("_dot_", ".")
            if text is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "-m", message, GIT_AUTHOR_NAME=author)

    def asked(self, **options):
        return {q.text: sorted(q.answers) for q in questions_from_git(self.folder, **options).questions}


@pytest.fixture
def repo(tmp_path):
    made = Repo(tmp_path)
    made.commit(
        "Start of the whole thing here",
        store_dot_py=STORE,
        store_dot_go=GO,
        test_store_dot_py="def test_a():\n    pass\n",
    )
    return made


def test_the_message_asks_and_the_changed_functions_answer(repo):
    tests = "def test_a():\n    assert 1\n"
    repo.commit(
        "Return nothing for unknown keys (#12)\n\nIt raised before.\n\nSigned-off-by: Ann <a@example.org>",
        store_dot_py=STORE.replace("self.keys[key]\n\n    def put", "self.keys.get(key)\n\n    def put"),
        store_dot_go=GO.replace("values[k]", "find(k)"),
        test_store_dot_py=tests,
    )
    assert repo.asked() == {
        "Return nothing for unknown keys\n\nIt raised before.": ["store.go::Get", "store.py::Store.get"]
    }


def test_each_question_is_judged_on_the_tree_before_its_commit(repo):
    repo.commit("Drop the function nobody calls", store_dot_py=STORE.partition("\n\ndef gone")[0])
    result = questions_from_git(repo.folder)
    [(corpus, questions)] = list(result.by_tree())
    assert questions[0].answers == ("store.py::gone",) and "store.py::gone" in corpus
    assert [q.kind for q in questions] == ["commit"]


def test_the_inner_function_answers_not_the_one_around_it(repo):
    repo.commit("Count from two instead of one", store_dot_py=STORE.replace("return 1", "return 2"))
    assert repo.asked() == {"Count from two instead of one": ["store.py::Store.put.inner"]}


def test_renames_are_followed(repo):
    text = STORE.replace("return 0", "return 9")
    repo.commit("Move the store and fix gone", store_dot_py=None, pkg__kept_dot_py=text)
    assert repo.asked() == {"Move the store and fix gone": ["store.py::gone"]}


def test_tests_answer_only_where_nothing_else_changed(repo):
    repo.commit("Check one more thing always", test_store_dot_py="def test_a():\n    assert 2\n")
    assert repo.asked() == {"Check one more thing always": ["test_store.py::test_a"]}


@pytest.mark.parametrize(
    ("message", "author", "text", "reason"),
    [
        ("Fix it", "Ann", CHANGED, "subject under 4 words"),
        ("Update the thing to version two", "dependabot[bot]", CHANGED, "bot"),
        ('Revert "Fix the thing of it"', "Ann", CHANGED, "revert"),
        ("Reformat all the code with black", "Ann", CHANGED, "formatting, release or other chore"),
        ("Space the arithmetic out more", "Ann", STORE.replace("return 0", "return  0  # zero"), SAME),
        ("Say more about the store", "Ann", STORE.replace("Gets it.", "Gets the value."), SAME),
        ("Add another function for later use", "Ann", STORE + "\n\ndef new():\n    return 5\n", SAME),
    ],
)
def test_what_is_no_question_is_dropped_and_counted(repo, message, author, text, reason):
    repo.commit(message, author, store_dot_py=text)
    result = questions_from_git(repo.folder)
    assert result.questions == []
    assert result.dropped[reason] == 1
    assert reason in repr(result.report)


def test_merges_other_files_and_huge_commits_are_dropped(repo):
    repo.commit("Write a few words about it", README_dot_md="words")
    repo.commit("Many files at once, all of them", **{f"f{i}_dot_py": "def f():\n    return 1\n" for i in range(12)})
    git(repo.folder, "checkout", "-q", "-b", "side", "HEAD~1")
    git(repo.folder, "commit", "-q", "--allow-empty", "-m", "Nothing on the side at all")
    git(repo.folder, "checkout", "-q", "main")
    git(repo.folder, "merge", "-q", "--no-ff", "-m", "Merge the side into the main", "side")
    dropped = questions_from_git(repo.folder).dropped
    assert dropped["merge"] == 1 and dropped["more than 10 source files"] == 1
    assert dropped["no Python or Go file"] == 2


def test_limit_seed_and_time(repo):
    for n in range(6):
        repo.commit(f"Change the number to {n} now please", store_dot_py=STORE.replace("return 0", f"return 7{n}"))
    assert repo.asked(limit=3, seed=1) == repo.asked(limit=3, seed=1)
    assert len(repo.asked(limit=3)) == 3 and len(repo.asked()) == 6
    result = questions_from_git(repo.folder, seconds=-1)
    assert result.questions == [] and any("stopped after" in note for note in result.notes)


def test_a_shallow_clone_works_and_says_what_it_lacks(repo, tmp_path_factory):
    for n in range(3):
        repo.commit(f"Change the number to {n} now please", store_dot_py=STORE.replace("return 0", f"return 7{n}"))
    shallow = tmp_path_factory.mktemp("clone") / "shallow"
    git(repo.folder, "clone", "-q", "--depth", "2", repo.folder.as_uri(), str(shallow))
    result = questions_from_git(shallow)
    assert [q.text for q in result.questions] == ["Change the number to 2 now please"]
    assert any("shallow" in note for note in result.notes)


def test_a_bare_repository_serves_as_well(repo, tmp_path_factory):
    repo.commit("Change the number to something else", store_dot_py=STORE.replace("return 0", "return 4"))
    bare = tmp_path_factory.mktemp("clone") / "bare.git"
    git(repo.folder, "clone", "-q", "--bare", str(repo.folder), str(bare))
    assert len(questions_from_git(bare).questions) == 1


def test_names_with_spaces_and_accents_are_read(repo):
    repo.commit("Add a file of odd name", **{"a file é_dot_py": "def f():\n    return 1\n"})
    repo.commit("Return something else from f now", **{"a file é_dot_py": "def f():\n    return 2\n"})
    assert repo.asked() == {"Return something else from f now": ["a file é.py::f"]}


def test_nothing_of_the_repository_is_run(repo):
    repo.commit("Change the number to something else", store_dot_py=STORE.replace("return 0", "return 4"))
    (repo.folder / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    marker = repo.folder / "ran"
    for key in ("filter.evil.smudge", "diff.evil.command", "diff.evil.textconv", "core.pager", "core.fsmonitor"):
        git(repo.folder, "config", key, f"touch {marker}")
    result = questions_from_git(repo.folder)
    list(result.by_tree())
    assert len(result.questions) == 1 and not marker.exists()


def test_write_tree_writes_sources_only(repo, tmp_path_factory):
    repo.commit("Write a few words about it", README_dot_md="words")
    folder = tmp_path_factory.mktemp("tree")
    write_tree(repo.folder, "HEAD", folder)
    assert sorted(p.name for p in folder.iterdir()) == ["store.go", "store.py", "test_store.py"]


def test_no_repository_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="is no git repository"):
        History(tmp_path)


def test_a_message_is_cut_at_a_number_of_words():
    assert clean_message("One two\n\nthree four five", max_words=3) == "One two\n\nthree"
    assert clean_message("Fix it (#1) (GH-2)\n\nCo-authored-by: B <b@c>\nChange-Id: I12") == "Fix it"
