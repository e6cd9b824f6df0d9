// A small SMTP server on loopback that keeps what it is given and can refuse a number of messages first (RFC 5321, the part
// a client needs). For tests of mail delivery.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as they arrived. */
  readonly data: string;
}

export interface SmtpServer {
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Those whose sender was still there when they were answered. */
  readonly answered: readonly ReceivedMail[];
  /** What clients signed in by: user and password. */
  readonly signIns: readonly string[];
  /** Messages given whole and not answered yet, and the most there ever were. */
  readonly held: () => number;
  readonly heldMax: () => number;
  /** Answers the next `count` messages with 451, or as told. */
  readonly refuseNext: (count: number, answer?: string) => void;
  readonly refused: () => number;
  readonly close: () => Promise<void>;
}

const taken = '250 taken';
const later = '451 try again later';

/** @param untilAnswer what is waited for before each message is answered */
export async function startSmtpServer(untilAnswer?: () => Promise<void>): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const answered: ReceivedMail[] = [];
  const signIns: string[] = [];
  const sockets = new Set<Socket>();
  let toRefuse = 0;
  let refusal = later;
  let refused = 0;
  let held = 0;
  let heldMax = 0;
  const accept = async (mail: ReceivedMail, socket: Socket): Promise<string> => {
    if (toRefuse > 0) {
      toRefuse -= 1;
      refused += 1;
      return refusal;
    }
    mails.push(mail);
    if (untilAnswer !== undefined) {
      held += 1;
      heldMax = Math.max(heldMax, held);
      await Promise.race([untilAnswer(), once(socket, 'close')]);
      held -= 1;
    }
    if (sockets.has(socket)) answered.push(mail);
    return taken;
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    converse(socket, accept, signIns);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    answered,
    signIns,
    held: () => held,
    heldMax: () => heldMax,
    refuseNext: (count, answer = later) => {
      toRefuse = count;
      refusal = answer;
    },
    refused: () => refused,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function converse(socket: Socket, accept: (mail: ReceivedMail, socket: Socket) => Promise<string>, signIns: string[]): void {
  let pending = '';
  let from = '';
  let to: string[] = [];
  let isData = false;
  const answer = (line: string): void => void socket.write(`${line}\r\n`);
  const command = (line: string): void => {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'MAIL') from = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (verb === 'RCPT') to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
    if (verb === 'DATA') {
      isData = true;
      answer('354 go on');
    } else if (verb === 'EHLO') answer('250-test\r\n250 AUTH PLAIN');
    else if (verb === 'AUTH') {
      signIns.push(
        Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString()
          .split('\0')
          .slice(1)
          .join(':'),
      );
      answer('235 ok');
    } else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else answer('250 ok');
  };
  const message = (data: string): void => {
    void accept({ from, to, data }, socket).then(answer);
    isData = false;
    to = [];
  };
  socket.setEncoding('utf8');
  socket.on('error', () => undefined);
  socket.on('data', (chunk: string) => {
    pending += chunk;
    for (;;) {
      const end = pending.indexOf(isData ? '\r\n.\r\n' : '\r\n');
      if (end === -1) return;
      const text = pending.slice(0, end);
      pending = pending.slice(end + (isData ? 5 : 2));
      if (isData) message(text);
      else command(text);
    }
  });
  answer('220 test');
}
