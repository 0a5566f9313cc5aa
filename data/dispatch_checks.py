"""Shows that the example service runs: `python data/dispatch_checks.py`. Kept outside of dispatch/, which is a search corpus."""

import json
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "dispatch"))

from base import Stage  # noqa: E402
from handler import handle_request  # noqa: E402
from monitor import format_uptime, health_report, request_rate  # noqa: E402
from settings import load_settings  # noqa: E402
from stages import Admission, Journal  # noqa: E402
from wire import decode  # noqa: E402


class Service(unittest.TestCase):
    def test_a_known_user_gets_an_answer(self):
        answer = json.loads(handle_request(b'{"user": "ada", "text": "hello"}'))
        self.assertEqual((answer["admitted"], answer["number"]), (True, 1))

    def test_others_are_turned_away(self):
        admission = Admission(["ada"])
        with self.assertRaises(PermissionError):
            admission.apply({"user": "eve"})

    def test_the_journal_numbers_what_passes(self):
        lines = []
        self.assertEqual(Journal(lines).apply({"user": "ada", "text": "hello"})["number"], 1)
        self.assertEqual(lines, ["ada: hello"])

    def test_a_plain_stage_changes_nothing(self):
        self.assertEqual((Stage().apply(7), Stage().label()), (7, "stage"))

    def test_broken_lines_are_refused(self):
        with self.assertRaises(ValueError):
            decode("[1]")

    def test_settings_come_from_the_environment(self):
        self.assertEqual(load_settings({"SERVICE_USERS": "ada, eve"})["users"], ["ada", "eve"])

    def test_the_monitor_counts(self):
        self.assertEqual(format_uptime(0, 3700), "1h 1m")
        self.assertEqual(request_rate([0.0, 100.0, 101.0], window=10), 0.2)
        self.assertIn("requests a second", health_report(0, [1.0]))


if __name__ == "__main__":
    unittest.main()
