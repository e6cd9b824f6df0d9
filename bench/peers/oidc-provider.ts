// The peer: oidc-provider in memory, issuing ES256 JWT access tokens to a client_secret_post client, with introspection.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const resource = 'https://api.example.com';
const jwk = (type: 'ec' | 'rsa'): Record<string, unknown> => {
  const { privateKey } =
    type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: type === 'ec' ? 'ES256' : 'RS256', kid: type };
};
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const provider = new Provider(url, {
    jwks: { keys: [jwk('ec'), jwk('rsa')] },
    clients: [
      {
        client_id: 'bench',
        client_secret: 'bench-secret-bench-secret-bench-secret-bench',
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'users:read',
          accessTokenTTL: 900,
          accessTokenFormat: process.env['TOKEN_FORMAT'] === 'opaque' ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    ttl: { ClientCredentials: 900 },
  });
  server.on('request', provider.callback());
  console.log(`peer ready ${url}`);
});
