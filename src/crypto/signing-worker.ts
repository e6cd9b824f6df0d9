// The other thread of signing-pool.ts: receives keys once and batches of texts after, answers batches of signatures in order.

import type { KeyObject } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { SigningAlg } from '../domain/client.ts';
import { signBytesNow } from './signing.ts';

export type ToWorker =
  | { readonly kind: 'key'; readonly kid: string; readonly alg: SigningAlg; readonly key: KeyObject }
  | { readonly kind: 'forget' }
  | { readonly kind: 'sign'; readonly kids: readonly string[]; readonly inputs: readonly string[] };

/** One base64url signature per input; undefined where signing failed. */
export type FromWorker = readonly (string | undefined)[];

const keys = new Map<string, { readonly alg: SigningAlg; readonly key: KeyObject }>();

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'key') keys.set(message.kid, message);
  else if (message.kind === 'forget') keys.clear();
  else parentPort?.postMessage(message.inputs.map((input, index) => signed(message.kids[index]!, input)));
});

function signed(kid: string, input: string): string | undefined {
  const entry = keys.get(kid);
  if (entry === undefined) return undefined;
  try {
    return signBytesNow(entry.alg, entry.key, Buffer.from(input, 'latin1')).toString('base64url');
  } catch {
    return undefined;
  }
}
