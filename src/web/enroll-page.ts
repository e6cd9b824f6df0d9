// {base_url}/enroll: where the link of an enrolment QR code leads when a browser opens it instead of the app. It only says what
// to do. The token is in the fragment of the link, so it never arrives here.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { icons } from '../http/pages/icons.ts';
import { renderPage } from '../http/pages/page.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { html } from '../platform/html.ts';

const wordings: Readonly<Record<Language, { readonly title: string; readonly text: string; readonly care: string }>> = {
  en: {
    title: 'Set up your phone',
    text: 'Open this link with your authenticator app, or scan its QR code from within the app.',
    care: 'The link works once and is meant for you alone.',
  },
  de: {
    title: 'Telefon einrichten',
    text: 'Öffnen Sie diesen Link mit Ihrer Authenticator-App oder scannen Sie den QR-Code in der App.',
    care: 'Der Link gilt einmal und ist nur für Sie bestimmt.',
  },
  fr: {
    title: 'Configurer votre téléphone',
    text: 'Ouvrez ce lien avec votre application d’authentification, ou scannez son code QR depuis l’application.',
    care: 'Le lien ne fonctionne qu’une fois et n’est destiné qu’à vous.',
  },
  ja: {
    title: 'スマートフォンの設定',
    text: 'このリンクを認証アプリで開くか、アプリから QR コードを読み取ってください。',
    care: 'リンクは一度だけ有効で、あなた専用です。',
  },
};

export function registerEnrollPage(app: FastifyInstance, services: Services): void {
  const definition = { name: 'enroll', envelope: 'management', prefix: '/enroll', bodies: {}, bodyBytesMax, ofTenant: true } as const;
  registerSurface(app, services, definition, (route) => {
    route('/', {
      GET: (request, reply) => {
        const language = negotiateLanguage(request.headers['accept-language']);
        const words = wordings[language];
        const body = html`<div class="center">${icons.phone}<h1>${words.title}</h1><p class="lead">${words.text}</p><p class="hint">${words.care}</p></div>`;
        const page = renderPage({ language, tenant: request.tenant, title: words.title, body });
        return reply.headers(page.headers).send(page.markup);
      },
    });
  });
}
