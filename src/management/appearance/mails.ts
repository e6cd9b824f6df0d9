// `/mails`: the mails a tenant words itself, by kind and language (design 13, 3). The kinds and their placeholders are in
// domain/appearance/mail-kinds.ts.
import Type from 'typebox';
import { type DraftKey, loadDraft } from '../../administration/appearance/drafts.ts';
import { closed, oneOf } from '../../administration/schema-pieces.ts';
import { queueMessage } from '../../approvals/mailed/mail-delivery.ts';
import { emailCharsMax } from '../../contract/limits.ts';
import { type MailKindName, mailKindNames, mailKindOf } from '../../domain/appearance/mail-kinds.ts';
import { type Language, languages } from '../../domain/language.ts';
import { composeMessage } from '../../mails/compose.ts';
import { builtInTemplate, sampleLetter } from '../../mails/samples.ts';
import { type MailTemplate, mailTemplateShape, templateFault } from '../../mails/template.ts';
import type { Message } from '../../platform/mail/mail.ts';
import { listCustomizations } from '../../storage/registry/customizations.ts';
import { type Call, type Endpoint, endpoint, type Json, notFound } from '../endpoint.ts';
import { customizationEndpoints } from './customization.ts';
import { admitTestMail, auditTestMail } from './test-mails.ts';
import { languageOf } from './texts.ts';

const path = '/mails/:kind/:language';
const template = Type.Unsafe<MailTemplate>(mailTemplateShape);
const placeholder = Type.Object({ name: Type.String(), required: Type.Boolean(), is_link: Type.Boolean() });
const kindAnswer = Type.Object({
  kind: oneOf(mailKindNames),
  label: Type.String(),
  placeholders: Type.Array(placeholder),
  published: Type.Array(oneOf(languages)),
  drafts: Type.Array(oneOf(languages)),
});
const message = Type.Object({ subject: Type.String(), text: Type.String(), html: Type.String() });
export const testBody = closed({ to: Type.String({ maxLength: emailCharsMax }) });

export const mailEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/mails',
    capability: 'mail:read',
    summary: 'List the kinds of mails, their placeholders, and the languages in which they are worded',
    answer: Type.Object({ items: Type.Array(kindAnswer) }),
    status: 200,
    handle: list,
  }),
  ...customizationEndpoints({
    path,
    noun: 'a mail in a language',
    read: 'mail:read',
    write: 'mail:write',
    body: template,
    keyOf,
    accept: ({ name }, body) => {
      const draft = body as unknown as MailTemplate; // checked by the schema
      const fault = templateFault(partsOf(name).kind, draft);
      return fault === undefined ? { draft: body } : { fault };
    },
    about: ({ name }, tenant) => {
      const { kind, language } = partsOf(name);
      return { kind, language, placeholders: placeholdersOf(kind), built_in: builtInTemplate(kind, language, tenant) };
    },
    aboutSchema: { kind: oneOf(mailKindNames), language: oneOf(languages), placeholders: Type.Array(placeholder), built_in: template },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/preview`,
    capability: 'mail:read',
    summary: 'Make the mail of the draft, else of what is published, else the built-in one, with samples for its placeholders',
    answer: message,
    status: 200,
    handle: async (call) => {
      const { to: _to, ...made } = await sampleOf(call, 'ada@example.com');
      return made;
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/test`,
    capability: 'mail:write',
    summary: 'Send that mail to somebody who holds a role; callers who may write and invite people can send it to any address',
    body: testBody,
    answer: undefined,
    status: 204,
    handle: sendTest,
  }),
];

async function list({ services, tenant }: Call<undefined, undefined>): Promise<Json> {
  const rows = await services.database.read(tenant.id, (queries) => listCustomizations(queries, tenant.id, 'mail'));
  const worded = (kind: MailKindName, column: 'published' | 'draft'): readonly Language[] =>
    languages.filter((language) => rows.some((row) => row.name === `${kind}.${language}` && row[column] !== null));
  return {
    items: mailKindNames.map((kind) => ({
      kind,
      label: mailKindOf(kind).label,
      placeholders: placeholdersOf(kind),
      published: worded(kind, 'published'),
      drafts: worded(kind, 'draft'),
    })),
  };
}

const placeholdersOf = (kind: MailKindName): readonly Json[] =>
  Object.entries(mailKindOf(kind).placeholders).map(([name, { required, isLink }]) => ({
    name,
    required: required === true,
    is_link: isLink === true,
  }));

/** @throws management.not_found */
function keyOf({ kind, language }: Call<unknown, unknown>['params']): DraftKey {
  const known = mailKindNames.find((name) => name === kind);
  if (known === undefined) throw notFound('unknown_mail');
  return { kind: 'mail', name: `${known}.${languageOf(language)}` };
}

function partsOf(name: string): { readonly kind: MailKindName; readonly language: Language } {
  const [kind, language] = name.split('.') as [MailKindName, Language]; // of keyOf
  return { kind, language };
}

async function sampleOf(
  { services, tenant, params }: Pick<Call<unknown, unknown>, 'services' | 'tenant' | 'params'>,
  to: string,
): Promise<Message> {
  const key = keyOf(params);
  const { kind, language } = partsOf(key.name);
  const { draft, published } = await services.database.read(tenant.id, (queries) => loadDraft(queries, tenant.id, key));
  const own = (draft ?? published) as MailTemplate | undefined; // checked when it was written
  return composeMessage(sampleLetter(kind, language, tenant, to), tenant, own);
}

async function sendTest(call: Call<undefined, { readonly to: string }>): Promise<void> {
  const { services, tenant, body } = call;
  const person = await admitTestMail(call, body.to);
  const made = await sampleOf(call, body.to);
  await services.database.write(tenant.id, async (queries) => {
    await queueMessage(queries, services, tenant, made);
    await auditTestMail(call, queries, person, { kind: partsOf(keyOf(call.params).name).kind, outcome: 'queued' });
  });
}
