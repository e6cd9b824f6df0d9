// A service provider from its SAML metadata: pasted or uploaded, in one form that needs no script. The Management API reads it.
import type { FastifyReply } from 'fastify';
import { html } from '../../platform/html.ts';
import { csrfField, type Notice } from '../own-app/app-page.ts';
import { consolePath } from './console-page.ts';
import { callAs, frameOf, goBack, refusalText, showPage, type Visit } from './console-visit.ts';
import type { UploadForm } from './uploaded-file.ts';

const path = '/service-providers/import';

export function importPage(visit: Visit, metadata = '', notice?: Notice): FastifyReply {
  const { tenant } = visit.request;
  return showPage(
    visit,
    'Import metadata',
    html`<p class="muted">The entity ID, its consumer services, keys and name formats are taken from the document. A service provider that is here already is updated; what the document does not say stays as it is. Give yours in return: <code>${tenant.baseUrl}/v1/idp/saml/metadata</code>.</p>
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
  if (answer.status === 200 || answer.status === 201)
    return goBack(visit, `/service-providers/${encodeURIComponent(String(answer.body['id']))}`, 'imported');
  return importPage(visit, typed, { kind: 'bad', text: refusalText(answer) });
}
