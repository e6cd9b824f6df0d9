// A SAML application from its metadata: by its address, from a file or pasted, in one form that needs no script. What an address says is shown
// before it is saved (import-preview.ts). The Management API reads all of it.
import type { FastifyReply } from 'fastify';
import type { ApiAnswer } from '../first-party/app-api.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField } from '../first-party/app-page.ts';
import { type FormField, renderField } from '../first-party/form-field.ts';
import { html } from '../platform/html.ts';
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
  hint: 'The best way, if the application publishes its metadata: new keys are taken over by themselves. You see what it says before it is saved.',
};
const which: FormField = {
  path: 'entity_id',
  label: 'Entity ID',
  kind: 'text',
  hint: 'Only if the metadata describes several applications.',
};
const fields = [address, which];

export function importPage(visit: Visit, typed?: Typed, refused?: Refused): FastifyReply {
  const { tenant } = visit.request;
  const field = (one: FormField) => renderField(one, {}, typed, refused?.fault);
  return showPage(
    visit,
    'Import metadata',
    html`<p class="muted">The metadata says the entity ID, where answers go, keys and name formats. If the application is here already, it is updated, and what the metadata does not say stays. Its page then has what to give in return.</p>
<form class="card" method="post" enctype="multipart/form-data" action="${consolePath(tenant, path)}">${csrfField(frameOf(visit))}${field(address)}
<div class="field"><label for="file">Or a file</label><input type="file" id="file" name="file" accept=".xml,application/xml,text/xml,application/samlmetadata+xml"></div>
<div class="field"><label for="metadata">Or its text</label><textarea id="metadata" name="metadata" rows="8" spellcheck="false">\n${typed?.get('metadata')?.trim() ?? ''}</textarea></div>${field(which)}
<div class="bar end"><button id="import">Import</button> <a class="button quiet" href="${consolePath(tenant, '/service-providers')}">Cancel</a></div></form>
<p class="muted">No metadata? <a href="${consolePath(tenant, '/service-providers/new')}">Fill it in by hand</a>.</p>`,
    refused?.notice,
  );
}

const typedIn = (typed: Typed, { path: name }: FormField): string => (typed.get(name) ?? '').trim();
const said = (text: string): Refused => ({ notice: { kind: 'bad', text } });

/** Takes the form: what an address says is shown first, a document is imported. */
export async function importMetadata(visit: Visit, { fields: typed, file }: UploadForm): Promise<FastifyReply> {
  const text = (typed.get('metadata') ?? '').trim();
  const isAddressed = typedIn(typed, address) !== '';
  if (isAddressed && (file !== undefined || text !== ''))
    return importPage(visit, typed, said('Give one of them: the address, a file or the text.'));
  if (isAddressed) return showPreview(visit, typed);
  const xml = file ?? Buffer.from(text, 'utf8');
  if (xml.length === 0) return importPage(visit, typed, said('Give the address, choose a file, or paste the metadata.'));
  const entityId = typedIn(typed, which);
  const query = entityId === '' ? '' : `?entity_id=${encodeURIComponent(entityId)}`;
  const answer = await callAs(visit, { method: 'POST', path: `/v1/management${path}${query}`, xml });
  return isTaken(answer) ? showImported(visit, answer.body) : importPage(visit, typed, refusedBy(answer, fields, typed));
}

const isTaken = ({ status }: ApiAnswer): boolean => status === 200 || status === 201;

const bodyOf = (typed: Typed): Json => {
  const entityId = typedIn(typed, which);
  return { metadata_url: typedIn(typed, address), ...(entityId !== '' && { entity_id: entityId }) };
};

/** What the address says, with the form that saves just that. Nothing is changed by it, so the form that asked may be sent again. */
async function showPreview(visit: Visit, typed: Typed, notice?: Refused['notice']): Promise<FastifyReply> {
  const { form: _unused, ...looking } = visit;
  const asked = bodyOf(typed);
  const answer = await manage(looking, 'POST', `${path}/address`, { ...asked, dry_run: true });
  if (answer.status !== 200) return importPage(visit, typed, refusal(answer, typed));
  const id = answer.body['id'];
  const known = typeof id === 'string' ? await manage(visit, 'GET', `/service-providers/${encodeURIComponent(id)}`) : undefined;
  return previewPage(visit, { asked, shown: answer.body, before: known?.status === 200 ? known.body : undefined }, notice);
}

/** Saves what was shown; where the address says something else by now, that is shown. */
export async function importShown(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', `${path}/address`, { ...bodyOf(typed), digest: typed.get('digest') ?? '' });
  if (isTaken(answer)) return showImported(visit, answer.body);
  if (answer.status === 409 && answer.body['kind'] === 'digest')
    return showPreview(visit, typed, {
      kind: 'bad',
      text: 'This has changed since you looked, and nothing was saved. Here is how it is now.',
    });
  return importPage(visit, typed, refusal(answer, typed));
}

const refusal = (answer: ApiAnswer, typed: Typed): Refused =>
  answer.status === 429
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
