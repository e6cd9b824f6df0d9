# Clients of the Model Context Protocol for Python, unmodified: `mcp-client.py <mcp|fastmcp> <server> [document|registered <client id>]`.
# Prints one line for each step: where a person shall go (fastmcp opens a browser, which prints it), then JSON with what the tool answered and
# with which tokens. The callback is a line of JSON read here by mcp, and a listening port of fastmcp's own. After it, `refresh` ends the
# access token and calls again.
import asyncio
import json
import os
import sys
import warnings
from urllib.parse import parse_qs, urlsplit

# Before what reads them is loaded.
os.environ.update(BROWSER="echo %s", FASTMCP_LOG_LEVEL="ERROR")
warnings.simplefilter("ignore")
library, server, *rest = sys.argv[1:]
how, client_id = rest if rest else ("registration", None)
callback = "http://127.0.0.1:7777/callback"


def say(what):
    print(json.dumps(what), flush=True)


async def line():
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


def with_mcp():
    import httpx2
    from mcp.client import Client
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

    class Kept:
        tokens = None
        client = None

        async def get_tokens(self):
            return self.tokens

        async def set_tokens(self, tokens):
            self.tokens = tokens

        async def get_client_info(self):
            return self.client

        async def set_client_info(self, client):
            self.client = client

    async def go(url):
        print(url, flush=True)

    async def came_back():
        query = parse_qs(urlsplit(await line()).query)
        return AuthorizationCodeResult(**{name: query[name][0] for name in ("code", "state", "iss")})

    metadata = {"client_name": "PyPI mcp", "redirect_uris": [callback], "token_endpoint_auth_method": "none"}
    kept = Kept()
    if how == "registered":
        kept.client = OAuthClientInformationFull(client_id=client_id, **metadata)
    provider = OAuthClientProvider(
        server_url=server,
        client_metadata=OAuthClientMetadata(**metadata),
        storage=kept,
        redirect_handler=go,
        callback_handler=came_back,
        client_metadata_url=client_id if how == "document" else None,
    )

    async def call():
        async with httpx2.AsyncClient(auth=provider) as http:
            async with Client(streamable_http_client(server, http_client=http)) as client:
                return await client.call_tool("whoami", {})

    return provider, call


def with_fastmcp():
    from fastmcp import Client
    from fastmcp.client.auth import OAuth

    given = {"document": {"client_metadata_url": client_id}, "registered": {"client_id": client_id}}
    provider = OAuth(client_name="fastmcp", **given.get(how, {}))

    async def call():
        async with Client(server, auth=provider) as client:
            return await client.call_tool("whoami", {})

    return provider, call


async def main():
    provider, call = with_mcp() if library == "mcp" else with_fastmcp()

    async def told():
        content = (await call()).content
        kept = provider.context
        say(
            {
                "called": [{"type": one.type, "text": one.text} for one in content],
                "client_id": kept.client_info.client_id,
                "tokens": kept.current_tokens.model_dump(mode="json"),
            }
        )

    await told()
    if await line() == "refresh":
        provider.context.token_expiry_time = 1
        await told()


try:
    asyncio.run(main())
except BaseException as error:  # groups of them too
    say({"failed": repr(error)})
