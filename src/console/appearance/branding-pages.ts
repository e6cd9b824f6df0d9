// Console pages of the branding: pictures, colours and links as a draft with its preview; publish, discard, undo.
import type { FastifyReply } from 'fastify';
import { stepOf } from '../../appearance/preview.ts';
import { type Branding, brandingFields } from '../../domain/appearance/branding.ts';
import type { Json } from '../../domain/field.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type FormField, formOf, readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { badge, postButton, postForm } from '../console-page.ts';
import {
  callAs,
  finish,
  frameOf,
  itemsOf,
  manage,
  type Refused,
  refusalText,
  refusedBy,
  refusedField,
  showMissing,
  showPage,
  type Visit,
} from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { settingsStyle } from '../settings/settings-pages.ts';
import type { UploadForm } from '../uploaded-file.ts';
import { previewFrames, sendPreview, stepChooser } from './preview-frames.ts';

const path = '/branding';
const uses = { logo: 'Logo', favicon: 'Favicon', '': 'Neither yet' } as const;

export async function brandingPage(visit: Visit, typed?: Typed, refused?: Refused): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const answer = await manage(visit, 'GET', path);
  if (answer.status !== 200) return showMissing(visit, 'Branding', answer);
  const { published, draft } = answer.body;
  const images = itemsOf(await manage(visit, 'GET', '/images'));
  const step = stepOf(visit.query.get('step'));
  return showPage(
    visit,
    'Branding',
    html`<p class="muted">How sign-in, welcome and account pages and mails look. What you change is a draft: nobody sees it before you publish it.</p>
${stateBar(visit, path, answer.body)}
${stepChooser(tenant, path, step)}${previewFrames(tenant, `${path}/preview`, step)}
${uploadForm(visit)}
${postForm(frameOf(visit), { path }, html`<h2>Draft</h2><div class="setting-grid">${renderFields(formFields(images), (draft ?? published) as Json, typed, refused?.fault)}</div>`, html`<button id="save-draft">Save draft</button>`)}`,
    refused?.notice,
    { frames: true, style: settingsStyle },
  );
}

/** The form of the fields; pictures are chosen among those of the tenant. */
function formFields(images: readonly Json[]): readonly FormField[] {
  const options = images.map((image) => String(image['sha256']));
  const optionLabels = Object.fromEntries(images.map((image) => [String(image['sha256']), { label: nameOf(image) }]));
  return formOf(brandingFields).map((field) =>
    field.path === 'logo' || field.path === 'favicon'
      ? { ...field, kind: 'select', options: ['', ...options], optionLabels, hint: 'One of the images you uploaded.' }
      : field,
  );
}

const nameOf = ({ type, width, height, sha256 }: Json): string =>
  `${String(type).replace('image/', '').toUpperCase()}, ${width} × ${height}, ${String(sha256).slice(0, 8)}`;

function uploadForm(visit: Visit): Html | undefined {
  if (!mayChange(visit, path)) return undefined;
  const content = html`<h2>Upload an image</h2>
<div class="field"><label for="file">PNG, JPEG or WebP</label><input type="file" id="file" name="file" required accept="image/png,image/jpeg,image/webp" aria-describedby="file-hint"><p class="hint" id="file-hint">At most 256 kB and 1024 pixels a side.</p></div>
<div class="field"><label for="use">Put it into the draft as</label><select id="use" name="use">${Object.entries(uses).map(([use, name]) => html`<option value="${use}">${name}</option>`)}</select></div>`;
  return postForm(frameOf(visit), { path: `${path}/images`, isUpload: true }, content, html`<button id="upload">Upload</button>`);
}

/** Where the draft stands, and what may be done with it. */
export function stateBar(visit: Visit, at: string, { draft, can_undo: canUndo }: Json): Html {
  const button = (name: string, label: string, style?: 'quiet'): Html =>
    postButton(frameOf(visit), { path: `${at}/${name}`, label, id: name, ...(style === undefined ? {} : { style }) });
  return html`<div class="bar">${draft === null ? badge('no draft', 'plain') : badge('draft, not published', 'bad')}
${draft !== null && html`${button('publish', 'Publish')}${button('discard', 'Discard draft', 'quiet')}`}${canUndo === true && button('undo', 'Undo last publish', 'quiet')}</div>`;
}

export async function saveBranding(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const images = itemsOf(await manage(visit, 'GET', '/images'));
  const fields = formFields(images);
  const read = readFields(fields, typed);
  if (!read.ok) return brandingPage(visit, typed, refusedField(read.fault));
  const given = Object.fromEntries(Object.entries(read.json).filter(([, value]) => value !== ''));
  const answer = await manage(visit, 'PUT', `${path}/draft`, given);
  return answer.status === 200
    ? finish(visit, path, 'The draft is saved. Nobody sees it before it is published.')
    : brandingPage(visit, typed, refusedBy(answer, fields, typed));
}

/** Keeps the picture and puts it into the draft, which is what is published where there is none. */
export async function uploadImage(visit: Visit, { fields, file }: UploadForm): Promise<FastifyReply> {
  const bad = (text: string): Promise<FastifyReply> => brandingPage(visit, undefined, { notice: { kind: 'bad', text } });
  if (file === undefined) return bad('Choose an image.');
  const { body } = await manage(visit, 'GET', path);
  const added = await callAs(visit, { method: 'POST', path: '/v1/management/images', image: file });
  if (added.status !== 201) return bad(refusalText(added));
  const use = fields.get('use');
  if (use !== 'logo' && use !== 'favicon') return finish(visit, path, 'The image is kept.');
  const draft = { ...((body['draft'] ?? body['published']) as Branding), [use]: added.body['sha256'] };
  const answer = await manage(visit, 'PUT', `${path}/draft`, draft);
  return answer.status === 200 ? finish(visit, path, `The draft has a new ${use}.`) : bad(refusalText(answer));
}

const actions = {
  publish: ['POST', '/publish', 'It is published. Every page follows within a second.'],
  discard: ['DELETE', '/draft', 'The draft is discarded.'],
  undo: ['POST', '/undo', 'What was published before is published again.'],
} as const;

/** Publish, discard or undo of what is at an address of the API, told on a page of the console. */
export async function act(
  visit: Visit,
  { name, api, page }: { readonly name: string; readonly api: string; readonly page: string },
): Promise<FastifyReply | undefined> {
  if (!Object.hasOwn(actions, name)) return undefined;
  const [method, at, text] = actions[name as keyof typeof actions];
  const answer = await manage(visit, method, `${api}${at}`);
  return answer.status < 300 ? finish(visit, page, text) : showMissing(visit, 'Not done', answer);
}

/** The sign-in with the draft's look. */
export async function brandingPreview(visit: Visit): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const { body } = await manage(visit, 'GET', path);
  const branding = (body['draft'] ?? body['published'] ?? {}) as Branding;
  const drafted = { ...tenant, settings: { ...tenant.settings, branding } };
  return sendPreview(visit, drafted, stepOf(visit.query.get('step')), 'en');
}
