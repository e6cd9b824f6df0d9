// A mail of each kind as it is built in, of things that do not exist: for previews and tests of a tenant's own wording, and for where that
// begins.
import { type MailKindName, mailKindOf } from '../domain/appearance/mail-kinds.ts';
import type { Client } from '../domain/client/client.ts';
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Letter } from './letter.ts';
import { mails } from './registry.ts';
import type { MailTemplate } from './template.ts';

const seconds = 600;

/** The letter to an address; its values are the placeholders' samples, but for the tenant's name. */
export function sampleLetter(kind: MailKindName, language: Language, tenant: Tenant, to: string): Letter {
  const samples = Object.entries(mailKindOf(kind).placeholders).map(([name, { sample }]) => [name, sample] as const);
  const values: Readonly<Record<string, string>> = { ...Object.fromEntries(samples), tenant: tenant.name };
  return { ...makers[kind]({ tenant, tenantName: tenant.name, language }, (name) => values[name] ?? '', to), values };
}

/** The built-in mail as a tenant would word it: where its own wording begins. */
export function builtInTemplate(kind: MailKindName, language: Language, tenant: Tenant): MailTemplate {
  const named = (name: string): string => `{{${name}}}`;
  const of = { tenant: { ...tenant, name: named('tenant') }, tenantName: named('tenant'), language };
  const { subject, text, values } = makers[kind](of, named, 'ada@example.com');
  const template = (filled: string): string =>
    Object.entries(values)
      .filter(([name, value]) => value !== named(name))
      .reduce((worded, [name, value]) => worded.replaceAll(value, named(name)), filled);
  const body = template(text)
    .replace(/\n-- \n.*\s*$/, '') // the frame says whose mail it is
    .replaceAll(/^\{\{link\}\}$/gm, '[{{link}}]({{link}})');
  return { subject: template(subject), body: body.trim() };
}

interface Common {
  readonly tenant: Tenant;
  readonly tenantName: string;
  readonly language: Language;
}
type Make = (of: Common, value: (name: string) => string, to: string) => Letter;

const makers: Readonly<Record<MailKindName, Make>> = {
  pin: (of, value, to) => mails.pin.make({ ...of, pin: value('code'), purposeName: value('application'), lifetimeSeconds: seconds }, to),
  approval: ({ tenant, language }, value, to) =>
    mails.approval.make(
      {
        tenant,
        client: { name: value('application') } as Client, // what the mail says of it
        user: { locale: null, preferred_language: language },
        bindingMessage: value('message'),
        lifetimeSeconds: seconds,
        mailToken: 'preview',
      },
      to,
    ),
  invitation: (of, value, to) => mails.invitation.make({ ...of, url: value('link'), lifetimeSeconds: 7 * 86_400 }, to),
  organization_invitation: (of, value, to) =>
    mails.organizationInvitation.make(
      { ...of, url: value('link'), organizationName: value('organization'), lifetimeSeconds: 7 * 86_400 },
      to,
    ),
  device_added: (of, value, to) => mails.deviceAdded.make({ ...of, deviceName: value('device') }, to),
  passkey_added: (of, value, to) => mails.passkey.make('added', { ...of, passkeyName: value('passkey') }, to),
  passkey_revoked: (of, value, to) => mails.passkey.make('revoked', { ...of, passkeyName: value('passkey') }, to),
  external_identity_added: (of, value, to) => mails.externalIdentity.make('added', { ...of, providerName: value('provider') }, to),
  external_identity_removed: (of, value, to) => mails.externalIdentity.make('removed', { ...of, providerName: value('provider') }, to),
  recovery_link: (of, value, to) => mails.recovery.make('link', { ...of, url: value('link') }, to),
  recovery_notice: (of, value, to) => mails.recovery.make('notice', { ...of, url: value('link') }, to),
  recovery_codes_made: (of, value, to) => mails.recoveryCode.make({ ...of, news: 'made', remaining: 10, accountUrl: value('link') }, to),
  recovery_codes_used: (of, value, to) => mails.recoveryCode.make({ ...of, news: 'used', remaining: 9, accountUrl: value('link') }, to),
  reported: (of, _value, to) => mails.reported.make({ ...of, ip: '203.0.113.7', at: new Date(Date.UTC(2026, 0, 1, 9, 30)) }, to),
  wrong_codes: (of, _value, to) => mails.wrongCodes.make(of, to),
};
