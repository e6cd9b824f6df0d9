// A SAML application from its metadata: by its address, from a file or pasted, in one form that needs no script. What the metadata says is
// shown before it is saved (import-preview.ts), by the same form: with the digest of what was shown, it saves. The Management API reads all
// of it.
import type { FastifyReply } from 'fastify';
import type { ApiAnswer } from '../first-party/app-api.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField } from '../first-party/app-page.ts';
import { type FormField, renderField } from '../first-party/form-field.ts';
import { html } from '../platform/html.ts';
import { consoleResource } from './console-resources.ts';
import { callAs, finish, frameOf, manage, type Refused, refusedBy, showPage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';
import { type ImportReport, previewPage } from './import-preview.ts';
import type { UploadForm } from './uploaded-file.ts';

type Json = Readonly<Record<string, unknown>>;

const path = '/service-providers/import';
/** A cookie carries them to the next page. */
const remarksCharsMax = 1_500;

const address: FormField = {
  path: 'metadata_url',
  label: 'Its address',
  kind: 'text',
  hint: 'The best way, if the application publishes its metadata: new keys are taken over by themselves.',
};
const which: FormField = {
  path: 'entity_id',
  label: 'Entity ID',
  kind: 'text',
  hint: 'Only if the metadata describes several applications.',
};
const signer = consoleResource('/service-providers').fields.find(({ path: name }) => name === 'metadata_certificate')!; // a field of the kind
const fields = [address, which, signer];

export function importPage(visit: Visit, typed?: Typed, refused?: Refused): FastifyReply {
  const { tenant } = visit.request;
  const field = (one: FormField) => renderField(one, {}, typed, refused?.fault);
  return showPage(
    visit,
    'Import metadata',
    html`<p class="muted">The metadata says the entity ID, where answers go, keys and name formats. You see what it says before it is saved. If the application is here already, it is updated, and what the metadata does not say stays. Its page then has what to give in return.</p>
<form class="card" method="post" enctype="multipart/form-data" action="${consolePath(tenant, path)}">${csrfField(frameOf(visit))}${field(address)}
<div class="field"><label for="file">Or a file</label><input type="file" id="file" name="file" accept=".xml,application/xml,text/xml,application/samlmetadata+xml"></div>
<div class="field"><label for="metadata">Or its text</label><textarea id="metadata" name="metadata" rows="8" spellcheck="false">\n${typed?.get('metadata')?.trim() ?? ''}</textarea></div>${field(which)}${field(signer)}
<div class="bar end"><button id="import">Import</button> <a class="button quiet" href="${consolePath(tenant, '/service-providers')}">Cancel</a></div></form>
<p class="muted">No metadata? <a href="${consolePath(tenant, '/service-providers/new')}">Fill it in by hand</a>.</p>`,
    refused?.notice,
  );
}

/** A text as it was before a browser sent it: lines get longer on the way. */
const textIn = (typed: Typed, name: string): string => (typed.get(name) ?? '').replaceAll('\r\n', '\n').trim();
const said = (text: string): Refused => ({ notice: { kind: 'bad', text } });

/** What the form gives: one address or one document, and what is said of it. */
interface Asked {
  /** As typed, by the names that the form and the API have in common. */
  readonly named: Readonly<Record<string, string>>;
  readonly document: Buffer | undefined;
}

/** Takes the form: without the digest of what was shown it shows that, with it it saves just that. */
export async function importMetadata(visit: Visit, { fields: typed, file }: UploadForm): Promise<FastifyReply> {
  const named = Object.fromEntries(fields.map(({ path: name }) => [name, textIn(typed, name)]).filter(([, text]) => text !== ''));
  const text = textIn(typed, 'metadata');
  const document = file ?? (text === '' ? undefined : Buffer.from(text, 'utf8'));
  const isAddressed = named['metadata_url'] !== undefined;
  if (isAddressed && document !== undefined) return importPage(visit, typed, said('Give one of them: the address, a file or the text.'));
  if (!isAddressed && document === undefined)
    return importPage(visit, typed, said('Give the address, choose a file, or paste the metadata.'));
  const asked = { named, document };
  const digest = typed.get('digest');
  return digest === null ? showPreview(visit, asked, typed) : importShown(visit, asked, typed, digest);
}

/** The one call for all of them: without the digest of what was shown it changes nothing. */
function callImport(visit: Visit, { named, document }: Asked, digest?: string): Promise<ApiAnswer> {
  if (document === undefined)
    return manage(visit, 'POST', `${path}/address`, { ...named, ...(digest === undefined ? { dry_run: true } : { digest }) });
  const query = new URLSearchParams({ ...named, ...(digest === undefined ? { dry_run: 'true' } : { digest }) });
  return callAs(visit, { method: 'POST', path: `/v1/management${path}?${query}`, xml: document });
}

/** What the metadata says, with the form that saves just that. Nothing is changed by it, so the form that asked may be sent again. */
async function showPreview(visit: Visit, asked: Asked, typed: Typed, notice?: Refused['notice']): Promise<FastifyReply> {
  const { form: _unused, ...looking } = visit;
  const answer = await callImport(looking, asked);
  if (answer.status !== 200) return importPage(visit, typed, refusal(answer, asked, typed));
  const id = answer.body['id'];
  const known = typeof id === 'string' ? await manage(visit, 'GET', `/service-providers/${encodeURIComponent(id)}`) : undefined;
  const { named, document } = asked;
  const sent = { ...named, ...(document !== undefined && { metadata: document.toString('utf8') }) };
  return previewPage(visit, { sent, shown: answer.body, before: known?.status === 200 ? known.body : undefined }, notice);
}

/** Saves what was shown; where the metadata does something else by now, that is shown. */
async function importShown(visit: Visit, asked: Asked, typed: Typed, digest: string): Promise<FastifyReply> {
  const answer = await callImport(visit, asked, digest);
  if (answer.status === 200 || answer.status === 201) return showImported(visit, answer.body);
  if (answer.status === 409 && answer.body['kind'] === 'digest')
    return showPreview(visit, asked, typed, {
      kind: 'bad',
      text: 'This has changed since you looked, and nothing was saved. Here is how it is now.',
    });
  return importPage(visit, typed, refusal(answer, asked, typed));
}

const refusal = (answer: ApiAnswer, { document }: Asked, typed: Typed): Refused =>
  answer.status === 429 && document === undefined
    ? said('Too many addresses were read within a minute. Wait a minute, and try again.')
    : refusedBy(answer, fields, typed);

/** On to the provider, with what was left out. */
function showImported(visit: Visit, provider: Json): Promise<FastifyReply> {
  const { left_out: leftOut, warnings } = provider['import'] as ImportReport; // the API's own answer
  const name = String(provider['name'] ?? provider['entity_id']);
  const remarks = [...warnings, ...leftOut.map(({ item, reason }) => `Left out: ${item}: ${reason}`)].join('\n').slice(0, remarksCharsMax);
  const text = `The metadata of ${name} was imported.${remarks === '' ? '' : `\n${remarks}`}`;
  return finish(visit, `/service-providers/${encodeURIComponent(String(provider['id']))}/handover`, text);
}
