// Previews of a draft: the sign-in's pages in frames, light, dark and as wide as a phone. A frame shows what the console serves at
// `…/preview`, and nothing in it can be sent.
import type { FastifyReply } from 'fastify';
import { previewPage } from '../../appearance/preview.ts';
import { type LoginStep, loginStepLabels, loginSteps } from '../../domain/appearance/login-texts.ts';
import type { Language } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Page } from '../../pages/page.ts';
import { type Html, html } from '../../platform/html.ts';
import type { Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';

const frames = [
  ['light', 'Light', ''],
  ['dark', 'Dark', ''],
  ['light', 'Phone', ' phone'],
] as const;

/** The frames; `path` is that of the preview below /console. */
export function previewFrames(tenant: Tenant, path: string, step: LoginStep): Html {
  return html`<section class="previews" aria-label="Preview">${frames.map(([theme, name, style]) => {
    const address = consolePath(tenant, `${path}${path.includes('?') ? '&' : '?'}step=${step}&theme=${theme}`);
    return html`<figure class="preview${style}"><figcaption>${name} · <a href="${address}" target="_blank" aria-label="open ${name} by itself">open</a></figcaption><iframe title="Preview, ${name}" sandbox="allow-same-origin" src="${address}"></iframe></figure>`;
  })}</section>`;
}

/** A form that shows another step in the frames; `hidden` keeps what else the address says. */
export const stepChooser = (tenant: Tenant, path: string, step: LoginStep): Html =>
  html`<form class="bar" method="get" action="${consolePath(tenant, path)}"><label for="step">Preview of</label><select id="step" name="step">${loginSteps.map(
    (one) => html`<option value="${one}"${one === step && html` selected`}>${loginStepLabels[one]}</option>`,
  )}</select><button class="quiet" id="show-step">Show</button></form>`;

/** Answers with the page of a frame: the visit's tenant as a draft has it. */
export function sendPreview({ reply, query }: Visit, tenant: Tenant, step: LoginStep, language: Language): FastifyReply {
  return send(reply, previewPage(tenant, step, language, query.get('theme') === 'dark' ? 'dark' : 'light'));
}

export const send = (reply: FastifyReply, page: Page): FastifyReply => reply.headers(page.headers).send(page.markup);
