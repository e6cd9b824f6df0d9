// {base_url}/enroll and {base_url}/scan: where the link of a QR code leads when a browser opens it instead of the app. They say
// what to do and offer the link to be copied. What the link carries is in its fragment, so it never arrives here: only the
// browser knows the link, and without scripts the page shows none.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { icons } from '../http/pages/icons.ts';
import { renderPage } from '../http/pages/page.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { html } from '../platform/html.ts';

interface Wording {
  readonly title: string;
  readonly text: string;
  readonly care: string;
}

export const enrollWords: Readonly<Record<Language, Wording>> = {
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

export const scanWords: Readonly<Record<Language, Wording>> = {
  en: {
    title: 'Continue in the app',
    text: 'This code belongs to a sign-in. Scan it from within your authenticator app, or open this link with the app.',
    care: 'Only scan the code of a sign-in you started yourself. It works once, for 30 seconds.',
  },
  de: {
    title: 'In der App fortfahren',
    text: 'Dieser Code gehört zu einer Anmeldung. Scannen Sie ihn in Ihrer Authenticator-App oder öffnen Sie diesen Link mit der App.',
    care: 'Scannen Sie nur den Code einer Anmeldung, die Sie selbst begonnen haben. Er gilt einmal, 30 Sekunden lang.',
  },
  fr: {
    title: 'Continuez dans l’application',
    text: 'Ce code appartient à une connexion. Scannez-le depuis votre application d’authentification, ou ouvrez ce lien avec elle.',
    care: 'Ne scannez que le code d’une connexion que vous avez commencée. Il fonctionne une fois, pendant 30 secondes.',
  },
  ja: {
    title: 'アプリで続ける',
    text: 'これはサインイン用のコードです。認証アプリから読み取るか、このリンクをアプリで開いてください。',
    care: 'ご自身で始めたサインインのコードだけを読み取ってください。コードは一度だけ、30 秒間有効です。',
  },
};

export const linkWords: Readonly<Record<Language, { readonly label: string; readonly open: string }>> = {
  en: { label: 'Link for the app', open: 'Open the app on this device' },
  de: { label: 'Link für die App', open: 'App auf diesem Gerät öffnen' },
  fr: { label: 'Lien pour l’application', open: 'Ouvrir l’application sur cet appareil' },
  ja: { label: 'アプリ用のリンク', open: 'この端末でアプリを開く' },
};

/** Shows the page's own address, fragment included, to be opened with the app or copied. */
const script = `(()=>{if(location.hash.length<2)return;const d=document,box=d.querySelector('#link');
box.querySelector('input').value=box.querySelector('a').href=location.href;box.hidden=false;
box.querySelector('input').addEventListener('focus',e=>e.target.select())})();`;

export function registerAppLinkPages(app: FastifyInstance, services: Services): void {
  registerPage(app, services, 'enroll', enrollWords);
  registerPage(app, services, 'scan', scanWords);
}

function registerPage(app: FastifyInstance, services: Services, name: string, wordings: Readonly<Record<Language, Wording>>): void {
  const definition = { name, envelope: 'management', prefix: `/${name}`, bodies: {}, bodyBytesMax, ofTenant: true } as const;
  registerSurface(app, services, definition, (route) => {
    route('/', {
      GET: (request, reply) => {
        const language = negotiateLanguage(request.headers['accept-language']);
        const words = wordings[language];
        const { label, open } = linkWords[language];
        const body = html`<div class="center"><div class="badge">${icons.phone}</div><h1>${words.title}</h1><p class="lead">${words.text}</p></div>
<div id="link" hidden><a class="button" href="#">${open}</a><p class="hint"><label for="link-text">${label}</label><input id="link-text" readonly></p></div>
<p class="hint center">${words.care}</p>`;
        const page = renderPage({ language, tenant: request.tenant, title: words.title, body, script });
        return reply.headers(page.headers).send(page.markup);
      },
    });
  });
}
