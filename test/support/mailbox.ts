// Mails of a test server: the newest to an address, and the PIN in it.
import assert from 'node:assert/strict';
import { foldKey } from '../../src/domain/fold.ts';
import { openQueuedMail } from '../../src/tokens/queued-mail.ts';
import type { TestServer } from './server.ts';

export interface TestMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The mails to an address, newest first; decoys are not mails. */
export async function mailsTo(server: TestServer, address: string): Promise<readonly TestMail[]> {
  const { database, encryption } = server.gatehouse.services;
  const rows = await database.system((queries) =>
    queries
      .selectFrom('outbox_messages')
      .selectAll()
      .where('recipient_key', '=', foldKey(address))
      .where('state', '<>', 'discarded')
      .orderBy('id', 'desc')
      .execute(),
  );
  return rows.map((row) => openQueuedMail(encryption, row));
}

/** The PIN of the newest mail to an address. */
export async function pinOf(server: TestServer, address: string): Promise<string> {
  const [mail] = await mailsTo(server, address);
  const pin = /^(\d{4,10})$/m.exec(mail?.text ?? '')?.[1];
  assert.ok(pin, `expected a PIN mailed to ${address}, found ${mail?.text ?? 'no mail'}`);
  return pin;
}

/** The code of the newest mail that asks whether mails arrive. */
export async function arrivalCodeOf(server: TestServer, address: string): Promise<string> {
  const [mail] = await mailsTo(server, address);
  const code = /^([0-9A-Z]{5}-[0-9A-Z]{5})$/m.exec(mail?.text ?? '')?.[1];
  assert.ok(code, `expected a code mailed to ${address}, found ${mail?.text ?? 'no mail'}`);
  return code;
}

/** A PIN that is not this one. */
export const otherPin = (pin: string): string => (pin[0] === '9' ? '0' : '9') + pin.slice(1);
