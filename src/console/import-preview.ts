// What metadata says, before it is saved: in people's words, with what changes of an application that is here already.
import { X509Certificate } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Notice } from '../first-party/app-page.ts';
import { type Html, html } from '../platform/html.ts';
import { code, text } from './cells.ts';
import { badge, postForm } from './console-page.ts';
import { frameOf, showPage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';
import { calledInWords } from './frame/plain-words.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ImportReport {
  readonly left_out: readonly { readonly item: string; readonly reason: string }[];
  readonly warnings: readonly string[];
}

interface Preview {
  /** What the form sent, which saves it together with the digest. */
  readonly sent: Json;
  /** The registration as it would be: the API's own answer. */
  readonly shown: Json;
  /** As it is, where there is one. */
  readonly before: Json | undefined;
}

/** Addresses without a space are longer than a phone is wide. */
const breaks = '#preview{overflow-wrap:anywhere}';
/** Of one list; a document may have more than a page shows. */
const listedMax = 8;
const shownCharsMax = 300;

export function previewPage(visit: Visit, { sent, shown, before }: Preview, notice?: Notice): FastifyReply {
  const { tenant } = visit.request;
  const { digest, warnings, left_out: leftOut } = shown['import'] as ImportReport & { readonly digest: string }; // the API's own answer
  const name = text(shown['name']);
  const remarks = [...warnings, ...leftOut.map(({ item, reason }) => `Left out: ${item}: ${reason}`)];
  const hidden = Object.entries({ ...sent, digest }).map(
    ([key, value]) => html`<input type="hidden" name="${key}" value="${text(value)}">`,
  );
  const isOther = (names: readonly string[]): boolean =>
    before !== undefined && names.some((one) => JSON.stringify(before[one]) !== JSON.stringify(shown[one]));
  const facts = rows.map(
    ([label, names, show]) =>
      html`<dt>${label}</dt><dd>${isOther(names) && html`${badge('changes', 'plain')} `}${show(shown)}${isOther(names) && html`<div class="muted">Until now: ${show(before!)}</div>`}</dd>`,
  );
  const lead =
    before === undefined
      ? html`<p>Nothing is saved yet. This is what the application says of itself.</p>`
      : html`<p id="known">It is here already, as <a href="${consolePath(tenant, `/service-providers/${encodeURIComponent(text(shown['id']))}`)}">${text(before['name'])}</a>. Nothing is saved yet.</p>`;
  return showPage(
    visit,
    before === undefined ? `Add ${cut(name)}?` : `Update ${cut(text(before['name']))}?`,
    postForm(
      frameOf(visit),
      { path: '/service-providers/import', id: 'preview', isUpload: true },
      html`${hidden}${lead}<dl>${facts}</dl>${remarks.length > 0 && html`<h2>Look at these</h2><ul class="lines" id="remarks">${listed(remarks)}</ul>`}`,
      html`<button id="save">${before === undefined ? 'Add it' : 'Update it'}</button> <a class="button quiet" href="${consolePath(tenant, '/service-providers/import')}">Other metadata</a>`,
    ),
    notice,
    { style: breaks },
  );
}

const cut = (value: string): string => (value.length > shownCharsMax ? `${[...value].slice(0, shownCharsMax).join('')}…` : value);

const listed = (items: readonly (Html | string)[]): readonly Html[] => [
  ...items.slice(0, listedMax).map((item) => html`<li>${typeof item === 'string' ? cut(item) : item}</li>`),
  ...(items.length > listedMax ? [html`<li>and ${String(items.length - listedMax)} more</li>`] : []),
];
const list = (items: readonly (Html | string)[]): Html =>
  items.length === 1 ? html`${items[0]}` : html`<ul class="lines">${listed(items)}</ul>`;

const nameWords: Readonly<Record<string, string>> = {
  persistent: 'a name made for this application, always the same',
  transient: 'another name at each sign-in',
  emailAddress: 'the email',
  encrypted: 'encrypted, where it asks for that',
};

/** What a certificate is compared by. */
function certificate(pem: string): Html {
  try {
    const { fingerprint256, validToDate } = new X509Certificate(pem);
    return html`<code>${fingerprint256}</code> until ${validToDate.toISOString().slice(0, 10)}`;
  } catch {
    return html`a key without a certificate`;
  }
}

type Shown = (provider: Json) => Html | string;

/** Label, the members it is made of, and how they are said. */
const rows: readonly (readonly [label: string, names: readonly string[], show: Shown])[] = [
  ['Name', ['name'], ({ name }) => cut(text(name))],
  ['Entity ID', ['entity_id'], ({ entity_id: entityId }) => code(entityId)],
  ['Answers go to', ['acs'], ({ acs }) => list((acs as readonly Json[]).map(({ url }) => html`<code>${cut(text(url))}</code>`))],
  [
    'Its requests',
    ['require_signed_requests'],
    ({ require_signed_requests: isRequired }) => (isRequired === true ? 'must be signed' : 'may be unsigned'),
  ],
  [
    'It signs with',
    ['signing_keys'],
    ({ signing_keys: keys }) => ((keys as readonly string[]).length === 0 ? 'nothing' : list((keys as readonly string[]).map(certificate))),
  ],
  [
    'Answers are',
    ['encrypt_assertions', 'encryption', 'encryption_key'],
    ({ encrypt_assertions: isEncrypted }) => (isEncrypted === true ? 'signed and encrypted' : 'signed, not encrypted'),
  ],
  [
    'It calls people by',
    ['name_id_formats'],
    ({ name_id_formats: formats }) =>
      list((formats as readonly string[]).map((format) => nameWords[format.split(':').at(-1) ?? ''] ?? format.split(':').at(-1) ?? '')),
  ],
  [
    'It is told',
    ['attribute_map'],
    ({ attribute_map: map }) =>
      Object.keys(map as Json)
        .map(calledInWords)
        .join(', ') || 'nothing besides',
  ],
  [
    'Its metadata',
    ['metadata_certificate'],
    ({ metadata_certificate: pem }) => (pem === null ? 'may be unsigned' : html`must be signed by ${certificate(text(pem))}`),
  ],
  [
    'Read again',
    ['metadata_url'],
    ({ metadata_url: url }) =>
      url === null
        ? 'never'
        : html`at <code>${cut(text(url))}</code>, once a day or as often as it says. Keys are taken over; an address at a new host waits for your approval.`,
  ],
];
