// The SMTP server a tenant sends its mails by, as a setting (design 13, 3). Its password is a secret setting: clear on its way in, sealed
// where it is kept, and never shown. Pure.
import { hostBytesMax, nameCharsMax, textCharsMax } from '../../contract/limits.ts';
import type { FieldFault } from '../field.ts';

/** How the connection is encrypted; `none` only to addresses that the operator allows. */
export const mailSecurities = {
  tls: { label: 'TLS from the start (465)' },
  starttls: { label: 'STARTTLS, required (587)' },
  none: { label: 'None: only where the operator allows the address' },
} as const;
type MailSecurity = keyof typeof mailSecurities;

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: MailSecurity;
  /** Null: nobody signs in there. */
  readonly username: string | null;
  readonly password_encrypted?: string;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
}

const nothing = { type: 'null' } as const;
const credential = { type: 'string', minLength: 1, maxLength: textCharsMax };

export const mailServerShape = {
  type: 'object',
  required: ['host', 'port', 'security', 'from'],
  properties: {
    host: {
      type: 'string',
      pattern: `^[A-Za-z0-9:][A-Za-z0-9.:-]{0,${hostBytesMax - 1}}$`,
      description: 'A name or an address, without a port',
    },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    security: { type: 'string', enum: Object.keys(mailSecurities) },
    username: { anyOf: [credential, nothing], description: 'Null: no sign-in there' },
    password: { ...credential, description: 'Kept encrypted and never shown. Absent: it stays as it is' },
    from: {
      type: 'string',
      maxLength: nameCharsMax,
      pattern: '^(?:[^\\u0000-\\u001f<>"]* <[^\\s@<>,;:"]+@[^\\s@<>,;:"]+>|[^\\s@<>,;:"]+@[^\\s@<>,;:"]+)$',
      description: 'mail@acme.example, or Acme <mail@acme.example>',
    },
  },
  additionalProperties: false,
} as const;
export const mailServerSetting = { anyOf: [mailServerShape, nothing] } as const;

/** A password is told to the server it was given for, as whom it was given for, and to no other. */
export function movedPasswordFault(before: MailServer | null, after: MailServer | null): FieldFault | undefined {
  if (before === null || after === null) return undefined;
  const { password_encrypted: sealed } = before;
  if (sealed === undefined || after.password_encrypted !== sealed) return undefined;
  const isSame = (['host', 'port', 'security'] as const).every((name) => before[name] === after[name]);
  const isSameName = after.username === null || after.username === before.username;
  if (isSame && !isSameName) return { field: 'password', text: 'must be given again, because the username is another' };
  return isSame ? undefined : { field: 'password', text: 'must be given again, because the host, the port or the security is another' };
}
