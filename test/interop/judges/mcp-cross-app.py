# IdentityAssertionOAuthProvider of the official client of the Model Context Protocol for Python, unmodified: `mcp-cross-app.py <JSON>` with the
# MCP server, who vouches for people (idp, idToken, and the client there) and the client at the server's own issuer. The library leaves the
# first step, the exchange at the employer, to its caller. Prints what the server's tool answered and with which token, as JSON.
import asyncio
import json
import sys
import warnings

import httpx2
from mcp.client import Client
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client

warnings.simplefilter("ignore")
given = json.loads(sys.argv[1])


class Kept:
    tokens = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return None

    async def set_client_info(self, client):
        pass


async def exchange(audience, resource):
    types = "urn:ietf:params:oauth:token-type:"
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "requested_token_type": types + "id-jag",
        "subject_token": given["idToken"],
        "subject_token_type": types + "id_token",
        "audience": audience,
        "resource": resource,
        "client_id": given["atIdp"]["id"],
        "client_secret": given["atIdp"]["secret"],
    }
    async with httpx2.AsyncClient() as http:
        answer = await http.post(given["idp"] + "/v1/idp/oidc/token", data=form)
    if answer.status_code != 200:
        raise RuntimeError(answer.text)
    return answer.json()["access_token"]


async def main():
    kept = Kept()
    provider = IdentityAssertionOAuthProvider(
        server_url=given["serverUrl"],
        storage=kept,
        client_id=given["atServer"]["id"],
        client_secret=given["atServer"]["secret"],
        issuer=given["issuer"],
        assertion_provider=exchange,
    )
    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(given["serverUrl"], http_client=http)) as client:
            content = (await client.call_tool("whoami", {})).content
    called = [{"type": one.type, "text": one.text} for one in content]
    print(json.dumps({"called": called, "tokens": kept.tokens.model_dump(mode="json")}))


def parts(error):
    inner = getattr(error, "exceptions", None)
    return repr(error) if inner is None else " ".join(parts(one) for one in inner)


try:
    asyncio.run(main())
except BaseException as error:  # groups of them too
    print(json.dumps({"failed": parts(error)}))
