// The ways to push that a server has: a function a vendor, and the accounts of its operator, for tenants that have none of their own.
import { readFileSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import type { Outbound } from '../net/outbound.ts';
import { type ApnsAccount, createApnsPush, parseApnsAccount } from './apns.ts';
import { createFcmPush, type FcmAccount, type FcmOrigins, parseFcmAccount } from './fcm.ts';
import type { PushSend } from './push.ts';
import { createWebPush, type VapidAccount } from './web.ts';

interface PushSenders {
  readonly apns: PushSend<ApnsAccount>;
  readonly fcm: PushSend<FcmAccount>;
  readonly web: PushSend<VapidAccount>;
}

/** Stand in for the vendors' origins; given by whoever composes a server, never by its configuration. */
export interface PushOrigins {
  readonly apns: string;
  readonly fcm: FcmOrigins;
  readonly web: string;
}

/** Accounts for the tenants that have none of their own. */
interface OperatorAccounts {
  readonly apns: ApnsAccount | undefined;
  readonly fcm: FcmAccount | undefined;
}

export interface PushWays {
  readonly senders: PushSenders;
  readonly operator: OperatorAccounts;
}

export function createPushSenders(outbound: Outbound, clock: Clock, origins?: PushOrigins): PushSenders {
  return {
    apns: createApnsPush(clock, origins?.apns),
    fcm: createFcmPush(clock, origins?.fcm),
    web: createWebPush(outbound, clock, origins?.web),
  };
}

/** Reads the operator's account files. @throws Error that names the setting and the fault */
export function readOperatorAccounts(files: {
  readonly pushApns: string | undefined;
  readonly pushFcm: string | undefined;
}): OperatorAccounts {
  return {
    apns: readAccount('push_apns', files.pushApns, (fields) => parseApnsAccount(fields, fields['origin'])),
    fcm: readAccount('push_fcm', files.pushFcm, parseFcmAccount),
  };
}

function readAccount<Account>(
  setting: string,
  file: string | undefined,
  parse: (fields: Readonly<Record<string, unknown>>) => Account,
): Account | undefined {
  if (file === undefined) return undefined;
  try {
    return parse(JSON.parse(readFileSync(file, 'utf8'))); // its members are checked
  } catch (error) {
    throw new Error(`${setting}: expected an account in ${file}; ${error instanceof Error ? error.message : String(error)}`);
  }
}
