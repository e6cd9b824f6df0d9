# The Standard Webhooks library for Python, unmodified: takes {secret, headers, body} on standard input and says what it verified, or why not.
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

given = json.load(sys.stdin)
try:
    event = Webhook(given["secret"]).verify(given["body"], given["headers"])
    print(json.dumps({"verified": event}))
except WebhookVerificationError as error:
    print(json.dumps({"refused": str(error)}))
