"""Shows that the example shop runs: `python data/shop_checks.py`. Kept outside of shop/, which is a search corpus."""

import hashlib
import hmac
import io
import json
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "shop"))

from accounts.users import find_user_by_email, register_user, update_profile  # noqa: E402
from auth.passwords import hash_password, verify_password  # noqa: E402
from auth.sessions import get_current_user, require_role  # noqa: E402
from auth.tokens import create_jwt_token, revoke_token, validate_jwt_token  # noqa: E402
from database.connection import close_connection  # noqa: E402
from database.migrations import run_migrations  # noqa: E402
from database.query import execute_query  # noqa: E402
from inventory.stock import reserve_stock, restock  # noqa: E402
from notification.orders import notify_order_shipped  # noqa: E402
from notification.sms import send_sms_code  # noqa: E402
from payment.checkout import calculate_order_total, process_checkout  # noqa: E402
from payment.history import export_statement, get_payment_history  # noqa: E402
from payment.refunds import process_refund  # noqa: E402
from payment.stripe import verify_webhook_signature  # noqa: E402


class Shop(unittest.TestCase):
    def setUp(self):
        run_migrations()
        self.addCleanup(close_connection)

    def test_migrations_run_once(self):
        self.assertEqual(run_migrations(), 0)

    def test_a_user_signs_up_and_holds_a_role(self):
        user_id = register_user("ada@example.org", "secret")
        stored = find_user_by_email("ADA@example.org")
        self.assertTrue(verify_password("secret", stored["password"]))
        self.assertFalse(verify_password("guess", hash_password("secret")))
        token = create_jwt_token(user_id)
        self.assertEqual(validate_jwt_token(token)["sub"], user_id)
        self.assertEqual(get_current_user(token)["email"], "ada@example.org")
        self.assertEqual(require_role(token, "customer")["id"], user_id)
        with self.assertRaises(PermissionError):
            require_role(token, "clerk")
        with self.assertRaises(PermissionError):
            validate_jwt_token(create_jwt_token(user_id, lifetime=-1))
        update_profile(user_id, name="Ada")
        revoke_token(token)
        self.assertEqual(execute_query("SELECT count(*) AS n FROM revoked"), [{"n": 1}])

    def test_a_cart_is_priced_and_paid(self):
        cart = [{"price": 500, "quantity": 2}, {"price": 1000}]
        self.assertEqual(calculate_order_total(cart, discount_percent=50), 1200)
        answer = process_checkout(cart, "c1", transport=lambda _: io.StringIO('{"id": "pi_1", "status": "succeeded"}'))
        self.assertEqual(answer, {"amount": 2400, "intent": "pi_1", "status": "succeeded"})

    def test_payments_are_listed_and_refunded(self):
        execute_query("INSERT INTO payments VALUES ('p1', 'c1', 900, 'eur', 3)")
        self.assertEqual(len(get_payment_history("c1")), 1)
        self.assertEqual(export_statement("c1").splitlines()[1], "p1,900,eur,3")
        self.assertEqual(process_refund({"id": "p1", "amount": 900, "day": 3}, today=5)["refunded"], 900)

    def test_a_webhook_is_believed_only_with_its_signature(self):
        payload, now = json.dumps({"type": "charge"}).encode(), str(int(time.time()))
        good = hmac.new(b"k", now.encode() + b"." + payload, hashlib.sha256).hexdigest()
        self.assertEqual(verify_webhook_signature(payload, f"t={now},v1={good}", "k"), {"type": "charge"})
        with self.assertRaises(ValueError):
            verify_webhook_signature(payload, f"t={now},v1=0", "k")

    def test_stock_is_reserved_until_it_runs_out(self):
        self.assertEqual(restock("mug", 3), 3)
        self.assertTrue(reserve_stock("mug", 2))
        self.assertFalse(reserve_stock("mug", 2))

    def test_messages_are_written(self):
        sent = []
        self.assertIn(send_sms_code("+1", lambda *message: sent.append(message)), sent[0][1])
        self.assertIn("about 3 days", notify_order_shipped(7, "ada@example.org").get_content())


if __name__ == "__main__":
    unittest.main()
