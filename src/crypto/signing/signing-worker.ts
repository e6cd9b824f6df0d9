// The other thread of signing-pool.ts: receives keys once and messages of signing inputs after, answers their signatures in order.

import type { KeyObject } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { SigningAlg } from '../../domain/client/client.ts';
import { signBytesNow } from './signing.ts';

export type ToWorker =
  | { readonly kind: 'key'; readonly kid: string; readonly alg: SigningAlg; readonly key: KeyObject }
  | { readonly kind: 'forget' }
  /** Signing inputs of one key, joined by a space: one string crosses threads far cheaper than many. */
  | { readonly kind: 'sign'; readonly kid: string; readonly inputs: string };

/** The base64url signatures in the same order, joined by a space; empty where signing failed. */
export type FromWorker = string;

const keys = new Map<string, { readonly alg: SigningAlg; readonly key: KeyObject }>();

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'key') keys.set(message.kid, message);
  else if (message.kind === 'forget') keys.clear();
  else
    parentPort?.postMessage(
      message.inputs
        .split(' ')
        .map((input) => signed(message.kid, input))
        .join(' '),
    );
});

function signed(kid: string, input: string): string {
  const entry = keys.get(kid);
  if (entry === undefined) return '';
  try {
    return signBytesNow(entry.alg, entry.key, Buffer.from(input, 'latin1')).toString('base64url');
  } catch {
    return '';
  }
}
