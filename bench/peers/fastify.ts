// The floor: a bare Fastify handler that parses the same form and returns as many bytes as a token answer of ours.
import Fastify from 'fastify';

const token = 'x'.repeat(Number(process.env['TOKEN_CHARS'] ?? 700));
const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.post('/token', async (request, reply) => {
  const parameters = new URLSearchParams(request.body as string); // the only content type accepted
  if (parameters.get('grant_type') !== 'client_credentials' || parameters.get('client_id') === null) return reply.code(400).send('{}');
  return reply
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 900, scope: 'users:read' }));
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`peer ready ${url}`);
