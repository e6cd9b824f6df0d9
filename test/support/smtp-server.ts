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
  /** Answers the next `count` messages with 451. */
  readonly refuseNext: (count: number) => void;
  readonly refused: () => number;
  readonly close: () => Promise<void>;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let toRefuse = 0;
  let refused = 0;
  const accept = (mail: ReceivedMail): boolean => {
    if (toRefuse > 0) {
      toRefuse -= 1;
      refused += 1;
      return false;
    }
    mails.push(mail);
    return true;
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    converse(socket, accept);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    refuseNext: (count) => {
      toRefuse = count;
    },
    refused: () => refused,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function converse(socket: Socket, accept: (mail: ReceivedMail) => boolean): void {
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
    } else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else answer('250 ok');
  };
  const message = (data: string): void => {
    answer(accept({ from, to, data }) ? '250 taken' : '451 try again later');
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
