// {base_url}/enroll and {base_url}/scan: where the link of a QR code leads when a browser opens it instead of the app. They say
// what to do and offer the link to be copied. What the link carries is in its fragment, so it never arrives here: only the
// browser knows the link, and without scripts the page shows none.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import { areWebPhonesAllowed } from '../domain/device/web-phones.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { registerSurface, type SurfaceDeps } from '../http/surface.ts';
import { icons } from '../pages/icons.ts';
import { renderPage } from '../pages/page.ts';
import { html } from '../platform/html.ts';
import { type AppLinkTexts, enrollTexts, linkTexts, scanTexts } from '../texts/app-link-texts.ts';
import { phonePageTexts } from '../texts/phone-page-texts.ts';

/** Shows the page's own address, fragment included, to be opened with the app or copied. */
const script = `(()=>{if(location.hash.length<2)return;const d=document,box=d.querySelector('#link');
box.querySelector('input').value=box.querySelector('a').href=location.href;box.hidden=false;
const phone=box.querySelector('#in-browser');if(phone)phone.href+=location.hash;
box.querySelector('input').addEventListener('focus',e=>e.target.select())})();`;

export function registerAppLinkPages(app: FastifyInstance, services: SurfaceDeps): void {
  registerPage(app, services, 'enroll', enrollTexts);
  registerPage(app, services, 'scan', scanTexts);
}

function registerPage(app: FastifyInstance, services: SurfaceDeps, name: string, wordings: Readonly<Record<Language, AppLinkTexts>>): void {
  const definition = { name, envelope: 'management', prefix: `/${name}`, bodies: {}, bodyBytesMax, ofTenant: true, isPages: true } as const;
  registerSurface(app, services, definition, (route) => {
    route('/', {
      GET: (request, reply) => {
        const language = negotiateLanguage(request.headers['accept-language']);
        const words = wordings[language];
        const { label, open } = linkTexts[language];
        const body = html`<div class="center"><div class="badge">${icons.phone}</div><h1>${words.title}</h1><p class="lead">${words.text}</p></div>
<div id="link" hidden><a class="button" href="#">${open}</a><p class="hint"><label for="link-text">${label}</label><input id="link-text" readonly></p>
${areWebPhonesAllowed(request.tenant) && html`<p><a class="button plain" id="in-browser" href="${new URL(request.tenant.baseUrl).pathname.replace(/\/$/, '')}/phone">${name === 'enroll' ? phonePageTexts[language].title : phonePageTexts[language].approve}</a></p>`}</div>
<p class="hint center">${words.care}</p>`;
        const page = renderPage({ language, tenant: request.tenant, title: words.title, body, script });
        return reply.headers(page.headers).send(page.markup);
      },
    });
  });
}
