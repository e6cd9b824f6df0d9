// Takes webhooks in a process of its own, as endpoints do: notes for each path how long after its event's time an event first arrived,
// and answers at once, at /slow after SLOW_MS. GET of a path gives what was noted there, in milliseconds, sorted.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const slowMs = Number(process.env['SLOW_MS']);
const heard = new Map<string, Map<string, number>>();

async function note(request: IncomingMessage, atMs: number): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { timestamp } = JSON.parse(body) as { timestamp: string };
  const at = heard.get(request.url!) ?? new Map<string, number>();
  heard.set(request.url!, at);
  const id = String(request.headers['webhook-id']);
  if (!at.has(id)) at.set(id, atMs - Date.parse(timestamp));
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    const latencies = [...(heard.get(request.url!)?.values() ?? [])].toSorted((left, right) => left - right);
    return void response.setHeader('content-type', 'application/json').end(JSON.stringify(latencies));
  }
  await note(request, Date.now());
  setTimeout(() => response.writeHead(204).end(), request.url === '/slow' ? slowMs : 0);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // listening on TCP
  console.log(`peer ready http://127.0.0.1:${port}`);
});
