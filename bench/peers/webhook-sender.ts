// The floor: a bare Node process that posts as many signed events as a tenant's webhooks get (DELIVERIES_PER_SECOND, to the paths of
// RECEIVER), over connections that stay open. It keeps nothing, reads nothing, and asks no database.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

const receiver = new URL(process.env['RECEIVER']!);
const paths = process.env['PATHS']!.split(',');
const perSecond = Number(process.env['DELIVERIES_PER_SECOND']);
const secret = randomBytes(32);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const filler = 'x'.repeat(300);

function deliver(path: string): void {
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ type: 'user.created', timestamp, data: { filler } });
  const id = `msg_${randomUUID()}`;
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  request({ agent, host: receiver.hostname, port: receiver.port, path, method: 'POST', headers }, (answer) => answer.resume())
    .on('error', (error) => console.error(error.message))
    .end(body);
}

let sent = 0;
const beganMs = performance.now();
setInterval(() => {
  const due = ((performance.now() - beganMs) / 1000) * perSecond;
  for (; sent < due; sent += 1) deliver(paths[sent % paths.length]!);
}, 20);

console.log(`peer ready ${receiver.href}`);
