// The secrets by which receivers know our calls (Standard Webhooks 1.0), with the one before a rotation, which signs too for a day. Pure.
import { nameCharsMax } from '../../contract/limits.ts';
import { type Kind, text } from '../field.ts';

const prefix = 'whsec_';

/** Of fields that no form asks for. */
export const secretKind: Kind<string, string> = { ...text(nameCharsMax), input: 'none' };
export const signingSecret = { write: 'never', hidden: true, label: 'Signing secret', check: secretFault } as const;

/** The parts of `MadeSecret` that all of them share. */
export const madeSigningSecret = {
  make: secretText,
  previous: { key: 'previousSecret', untilMs: 'previousUntilMs', overlapMs: 24 * 60 * 60_000 },
} as const;

/** The secret as receivers take it. */
function secretText(bytes: Uint8Array): string {
  return `${prefix}${Buffer.from(bytes).toString('base64')}`;
}

/** 24 to 64 bytes in base64 behind a prefix. */
function secretFault(given: string): string | undefined {
  const bytes = Buffer.from(given.slice(prefix.length), 'base64');
  return given.startsWith(prefix) && secretText(bytes) === given && bytes.length >= 24 && bytes.length <= 64
    ? undefined
    : 'must be whsec_ and 24 to 64 bytes in base64';
}
