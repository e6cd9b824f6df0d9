# A directory by scim2-client, unmodified: reads what is supported, makes a person, finds and changes them. Arguments: base address, token,
# the person's email. Prints what it found as JSON.
import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient

base, token, email = sys.argv[1:4]
client = SyncSCIMClient(Client(base_url=base, headers={"Authorization": "Bearer " + token}, timeout=60))
client.discover()
User = client.get_resource_model("User")
made = client.create(User(user_name=email, display_name="From the directory", emails=[{"value": email, "primary": True}]))
found = client.query(User, query_parameters={"filter": f'userName eq "{email}"'})
print(json.dumps({"id": made.id, "found": found.total_results}))
