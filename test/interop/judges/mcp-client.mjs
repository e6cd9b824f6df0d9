// A client of the Model Context Protocol as its official SDK makes one, unmodified: `mcp-client <version> <server> [document|registered <id>]`.
// Prints one JSON a line: where a person shall go, then what the tool answered and with which tokens. Reads the callback's address, and
// after it `refresh`, which forgets the access token and calls again.
import { createInterface } from 'node:readline';

const [version, server, how, clientId] = process.argv.slice(2);
const isOne = version.startsWith('1.');
const partOf = (path) => import(isOne ? `mcp-${version}/client/${path}.js` : `mcp-${version}`);
const { Client } = await partOf('index');
const { StreamableHTTPClientTransport } = await partOf('streamableHttp');
const { UnauthorizedError } = await partOf('auth');

const say = (what) => console.log(JSON.stringify(what));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const redirectUrl = 'http://127.0.0.1:7777/callback';
const kept = how === 'registered' ? { client: { client_id: clientId } } : {};
const provider = {
  redirectUrl,
  ...(how === 'document' ? { clientMetadataUrl: clientId } : {}),
  clientMetadata: {
    client_name: `SDK ${version}`,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'tools offline_access',
  },
  state: () => 'state-of-the-sdk',
  clientInformation: () => kept.client,
  saveClientInformation: (client) => {
    kept.client = client;
  },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => {
    kept.tokens = tokens;
  },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier;
  },
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (state) => {
    kept.discovery = state;
  },
  redirectToAuthorization: (url) => say({ authorize: url.href }),
};

async function call() {
  const client = new Client({ name: 'judge', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(server), { authProvider: provider });
  try {
    await client.connect(transport);
    const { content } = await client.callTool({ name: 'whoami', arguments: {} });
    say({ called: content, client_id: kept.client?.client_id ?? clientId, tokens: kept.tokens });
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const { value } = await lines.next();
    const { searchParams } = new URL(value);
    await transport.finishAuth(isOne ? searchParams.get('code') : searchParams);
    return call();
  }
  await client.close();
}

try {
  await call();
  const { value } = await lines.next();
  if (value === 'refresh') {
    kept.tokens = { ...kept.tokens, access_token: 'x' };
    await call();
  }
} catch (error) {
  say({ failed: `${error?.name}: ${error?.message}` });
}
process.exit(0);
