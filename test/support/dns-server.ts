// A name server on loopback that knows TXT and A records, and names at which it is silent. UDP, one question a message (RFC 1035 4).
import { createSocket } from 'node:dgram';

const [aType, txtType] = [1, 16] as const;
type Answer = (ttlSeconds: number) => Buffer;

export type TestDns = Awaited<ReturnType<typeof startDns>>;

export async function startDns() {
  /** Texts by lower-case name. */
  const records = new Map<string, readonly string[]>();
  /** IPv4 addresses by lower-case name. */
  const addresses = new Map<string, readonly string[]>();
  /** Of the answers that follow. */
  let ttlSeconds = 0;
  /** No answer comes for these. */
  const silent = new Set<string>();
  const asked: string[] = [];
  let isBroken = false;
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, end } = nameIn(question);
    asked.push(name);
    if (silent.has(name)) return;
    const type = question.readUInt16BE(end - 4);
    const isKnown = records.has(name) || addresses.has(name);
    const found = type === txtType ? records.get(name)?.map(textAnswer) : type === aType ? addresses.get(name)?.map(addressAnswer) : [];
    const head = Buffer.from(question.subarray(0, 12));
    const code = isBroken ? 2 : isKnown ? 0 : 3; // SERVFAIL, NXDOMAIN
    head.writeUInt16BE(0x8580 | code, 2);
    head.writeUInt16BE(isBroken ? 0 : (found?.length ?? 0), 6);
    head.writeUInt32BE(0, 8);
    const answers = isBroken ? [] : (found ?? []).map((answer) => answer(ttlSeconds));
    socket.send(Buffer.concat([head, question.subarray(12, end), ...answers]), from.port, from.address);
  });
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    records,
    addresses,
    silent,
    setTtl: (seconds: number): void => {
      ttlSeconds = seconds;
    },
    /** Names asked for so far. */
    asked,
    /** Makes it answer SERVFAIL. */
    setBroken: (broken: boolean): void => {
      isBroken = broken;
    },
    close: (): Promise<void> => new Promise((closed) => socket.close(() => closed())),
  };
}

function nameIn(message: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = message[at] ?? 0; size > 0; size = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** A TXT record of the name asked for, in strings of 255 at most. */
const textAnswer = (text: string): Answer =>
  answerOf(txtType, Buffer.concat((text.match(/.{1,255}/gs) ?? ['']).map((part) => Buffer.from([part.length, ...Buffer.from(part)]))));

const addressAnswer = (address: string): Answer => answerOf(aType, Buffer.from(address.split('.').map(Number)));

const answerOf =
  (type: number, data: Buffer): Answer =>
  (ttlSeconds) => {
    const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(ttlSeconds, 6);
    head.writeUInt16BE(data.length, 10);
    return Buffer.concat([head, data]);
  };
