// Console pages of the sign-in's texts: a language, its steps, each text beside the built-in one, with the preview of the draft.
import type { FastifyReply } from 'fastify';
import { stepOf } from '../../appearance/preview.ts';
import { type LoginStep, loginTextFields, readLoginTexts } from '../../domain/appearance/login-texts.ts';
import type { Json } from '../../domain/field.ts';
import { type Language, languages } from '../../domain/language.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { table } from '../../first-party/app-page.ts';
import { type FormField, formOf, readFields, renderFields } from '../../first-party/form-field.ts';
import { html } from '../../platform/html.ts';
import { builtInText } from '../../texts/login-texts.ts';
import { badge, postForm } from '../console-page.ts';
import { finish, frameOf, manage, type Refused, refusedBy, refusedField, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { stateBar } from './branding-pages.ts';
import { previewFrames, sendPreview, stepChooser } from './preview-frames.ts';

type Params = Readonly<Record<string, string>>;

export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'German', fr: 'French', ja: 'Japanese' };
const textsPath = (language: string): string => `/languages/${encodeURIComponent(language)}`;

export async function languagesPage(visit: Visit): Promise<FastifyReply> {
  const states = await Promise.all(languages.map((language) => manage(visit, 'GET', `/texts/${language}`)));
  const missing = states.find(({ status }) => status !== 200);
  if (missing !== undefined) return showMissing(visit, 'Languages', missing);
  const rows = states.map(({ body }, index) => {
    const language = languages[index]!; // one answer a language
    return [
      html`<a class="strong" href="${consolePath(visit.request.tenant, textsPath(language))}">${languageNames[language]}</a>`,
      body['published'] === null ? badge('built-in', 'plain') : badge('your words', 'good'),
      body['draft'] === null ? '' : badge('draft', 'bad'),
    ];
  });
  return showPage(
    visit,
    'Languages',
    html`<p class="muted">What the sign-in says, step by step. Whatever you leave empty stays as it is built in.</p>${table('Languages', ['Language', 'Published', 'Draft'], rows)}`,
  );
}

/** Every text with the built-in one below it. */
const formFor = (language: Language): readonly FormField[] =>
  formOf(loginTextFields).map((field) => {
    const [step = '', name = ''] = field.path.split('.');
    const builtIn = builtInText(language, step as LoginStep, name);
    return builtIn === undefined ? field : { ...field, hint: `Built in: ${builtIn}` };
  });

const known = (language: string | undefined): Language => languages.find((one) => one === language) ?? 'en';

export async function textsPage(visit: Visit, params: Params, typed?: Typed, refused?: Refused): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const answer = await manage(visit, 'GET', `/texts/${encodeURIComponent(params['language'] ?? '')}`);
  if (answer.status !== 200) return showMissing(visit, 'Languages', answer);
  const language = known(params['language']);
  const path = textsPath(language);
  const step = stepOf(visit.query.get('step'));
  const { draft, published } = answer.body;
  return showPage(
    visit,
    `Texts in ${languageNames[language]}`,
    html`${stateBar(visit, path, answer.body)}${stepChooser(tenant, path, step)}${previewFrames(tenant, `${path}/preview`, step)}
${postForm(frameOf(visit), { path }, html`${renderFields(formFor(language), (draft ?? published ?? {}) as Json, typed, refused?.fault)}`, html`<button id="save-draft">Save draft</button>`)}`,
    refused?.notice,
    { frames: true },
  );
}

export async function saveTexts(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const fields = formFor(known(params['language']));
  const read = readFields(fields, typed);
  if (!read.ok) return textsPage(visit, params, typed, refusedField(read.fault));
  const answer = await manage(visit, 'PUT', `/texts/${encodeURIComponent(params['language'] ?? '')}/draft`, read.json);
  return answer.status === 200
    ? finish(visit, textsPath(params['language'] ?? ''), 'The draft is saved. Nobody sees it before it is published.')
    : textsPage(visit, params, typed, refusedBy(answer, fields, typed));
}

/** The sign-in with the draft's words. */
export async function textsPreview(visit: Visit, params: Params): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const language = known(params['language']);
  const { body } = await manage(visit, 'GET', `/texts/${language}`);
  const texts = { ...tenant.texts, [language]: readLoginTexts((body['draft'] ?? body['published'] ?? {}) as Json) };
  return sendPreview(visit, { ...tenant, texts }, stepOf(visit.query.get('step')), language);
}
