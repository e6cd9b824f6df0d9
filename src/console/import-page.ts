// A service provider from its SAML metadata: pasted or uploaded, in one form that needs no script. The Management API reads it.
import type { FastifyReply } from 'fastify';
import { csrfField, type Notice } from '../first-party/app-page.ts';
import { html } from '../platform/html.ts';
import { callAs, finish, frameOf, refusalText, showPage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';
import type { UploadForm } from './uploaded-file.ts';

type Json = Readonly<Record<string, unknown>>;

const path = '/service-providers/import';
/** A cookie carries them to the next page. */
const remarksCharsMax = 1_500;

export function importPage(visit: Visit, metadata = '', notice?: Notice): FastifyReply {
  const { tenant } = visit.request;
  return showPage(
    visit,
    'Import metadata',
    html`<p class="muted">The entity ID, its consumer services, keys and name formats are taken from the document. A service provider that is here already is updated; what the document does not say stays as it is. What cannot be used is left out and told. Its page then has the address of the metadata to give in return.</p>
<form class="card" method="post" enctype="multipart/form-data" action="${consolePath(tenant, path)}">${csrfField(frameOf(visit))}
<div class="field"><label for="file">A file</label><input type="file" id="file" name="file" accept=".xml,application/xml,text/xml,application/samlmetadata+xml"></div>
<div class="field"><label for="metadata">Or its text</label><textarea id="metadata" name="metadata" rows="12" spellcheck="false">\n${metadata}</textarea></div>
<div class="bar end"><button id="import">Import</button> <a class="button quiet" href="${consolePath(tenant, '/service-providers')}">Cancel</a></div></form>`,
    notice,
  );
}

export async function importMetadata(visit: Visit, { fields, file }: UploadForm): Promise<FastifyReply> {
  const typed = (fields.get('metadata') ?? '').trim();
  const xml = file ?? Buffer.from(typed, 'utf8');
  if (xml.length === 0) return importPage(visit, typed, { kind: 'bad', text: 'Choose a file, or paste the metadata.' });
  const answer = await callAs(visit, { method: 'POST', path: `/v1/management${path}`, xml });
  if (answer.status === 200 || answer.status === 201) return showImported(visit, answer.body);
  return importPage(visit, typed, { kind: 'bad', text: refusalText(answer) });
}

/** On to the provider, with what was left out. */
function showImported(visit: Visit, provider: Json): Promise<FastifyReply> {
  const { left_out: leftOut, warnings } = provider['import'] as ImportReport; // the API's own answer
  const name = String(provider['name'] ?? provider['entity_id']);
  const remarks = [...warnings, ...leftOut.map(({ item, reason }) => `Left out: ${item}: ${reason}`)].join('\n').slice(0, remarksCharsMax);
  const text = `The metadata of ${name} was imported.${remarks === '' ? '' : `\n${remarks}`}`;
  return finish(visit, `/service-providers/${encodeURIComponent(String(provider['id']))}/handover`, text);
}

interface ImportReport {
  readonly left_out: readonly { readonly item: string; readonly reason: string }[];
  readonly warnings: readonly string[];
}
