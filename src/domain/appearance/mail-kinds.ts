// The mails a tenant may word itself: a row a kind, with the placeholders it may name. Values are plain text, put in escaped. A required one
// carries what the mail is for; a link is the only one an address may be made of.

export interface Placeholder {
  readonly required?: true;
  readonly isLink?: true;
  /** Lets in whoever has it, as a link does. */
  readonly isSecret?: true;
  /** What previews and tests show. */
  readonly sample: string;
}

interface MailKind {
  readonly label: string;
  readonly placeholders: Readonly<Record<string, Placeholder>>;
}

const tenant = { sample: 'Acme' };
const link = { required: true, isLink: true, sample: 'https://login.acme.example/preview' } as const;
const minutes = { sample: '10' };

// biome-ignore format: a table, one row a line
const mailKinds = {
  pin: { label: 'Code to sign in', placeholders: { code: { required: true, isSecret: true, sample: '482913' }, application: { sample: 'Portal' }, tenant, minutes } },
  approval: { label: 'Request to approve', placeholders: { link, application: { required: true, sample: 'Portal' }, message: { required: true, sample: 'Payment of 20 €' }, tenant, minutes } },
  invitation: { label: 'Invitation', placeholders: { link, tenant, lifetime: { sample: '7 days' } } },
  organization_invitation: { label: 'Invitation into an organisation', placeholders: { link, organization: { required: true, sample: 'Globex' }, tenant, lifetime: { sample: '7 days' } } },
  device_added: { label: 'Phone added', placeholders: { device: { required: true, sample: 'Ada’s phone' }, tenant } },
  passkey_added: { label: 'Passkey added', placeholders: { passkey: { required: true, sample: 'Laptop' }, tenant } },
  passkey_revoked: { label: 'Passkey revoked', placeholders: { passkey: { required: true, sample: 'Laptop' }, tenant } },
  external_identity_added: { label: 'Other provider linked', placeholders: { provider: { required: true, sample: 'Example ID' }, tenant } },
  external_identity_removed: { label: 'Other provider unlinked', placeholders: { provider: { required: true, sample: 'Example ID' }, tenant } },
  recovery_link: { label: 'Recovery: the link', placeholders: { link, tenant } },
  recovery_notice: { label: 'Recovery: the notice', placeholders: { link, tenant } },
  recovery_codes_made: { label: 'Recovery codes made', placeholders: { remaining: { sample: '10' }, link: { isLink: true, sample: link.sample }, tenant } },
  recovery_codes_used: { label: 'Recovery code used', placeholders: { remaining: { required: true, sample: '9' }, link: { isLink: true, sample: link.sample }, tenant } },
  reported: { label: 'Sign-in reported', placeholders: { from: { required: true, sample: '203.0.113.7, 2026-01-01 09:30 UTC' }, tenant } },
  wrong_codes: { label: 'Wrong codes', placeholders: { tenant } },
} as const satisfies Readonly<Record<string, MailKind>>;

export type MailKindName = keyof typeof mailKinds;
export const mailKindNames = Object.keys(mailKinds) as readonly MailKindName[];
export const mailKindOf = (name: MailKindName): MailKind => mailKinds[name];
