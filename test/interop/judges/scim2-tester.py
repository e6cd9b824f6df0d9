# Runs scim2-tester, unmodified, against a service and prints what it found as JSON. Arguments: base address, token.
import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

base, token = sys.argv[1:3]
client = SyncSCIMClient(Client(base_url=base, headers={"Authorization": "Bearer " + token}, timeout=60))
print(json.dumps([[result.status.name, result.title, result.reason or ""] for result in check_server(client)]))
