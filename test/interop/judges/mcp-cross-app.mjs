// CrossAppAccessProvider of the official client of the Model Context Protocol, unmodified: `mcp-cross-app <JSON>` with the MCP server, who
// vouches for people (idp, idToken, and the client there) and the client at the server's own issuer. Prints what the server's tool answered
// and with which token, as JSON.
import { Client, CrossAppAccessProvider, discoverAndRequestJwtAuthGrant, StreamableHTTPClientTransport } from 'mcp-2.4';

const { serverUrl, idp, idToken, atIdp, atServer, issuer } = JSON.parse(process.argv[2]);
const provider = new CrossAppAccessProvider({
  assertion: async ({ authorizationServerUrl, resourceUrl, scope }) => {
    const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
      ...{ idpUrl: idp, audience: authorizationServerUrl, resource: resourceUrl, idToken, scope },
      ...{ clientId: atIdp.id, clientSecret: atIdp.secret },
    });
    return jwtAuthGrant;
  },
  clientId: atServer.id,
  clientSecret: atServer.secret,
  expectedIssuer: issuer,
});
try {
  const client = new Client({ name: 'judge', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider: provider }));
  const { content } = await client.callTool({ name: 'whoami', arguments: {} });
  console.log(JSON.stringify({ called: content, tokens: provider.tokens() }));
} catch (error) {
  console.log(JSON.stringify({ failed: `${error?.name}: ${error?.message}` }));
}
process.exit(0);
