// {base_url}/phone: the web phone, an installable page on the device SDK. Served here are a page without secrets, its modules, its
// manifest and its worker; everything else the app does is a signed call to the device plane.
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { bodyBytesMax } from '../contract/limits.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { standardScopes } from '../domain/oidc/standard-scopes.ts';
import { organizationScope, organizationsScope } from '../domain/organizations/tenant-organizations.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { accentOf, brandMark, brandVariables } from '../pages/brand.ts';
import { styleSheet } from '../pages/style-sheet.ts';
import { takesBrotli } from '../platform/accept.ts';
import { html, trusted } from '../platform/html.ts';
import { randomId } from '../platform/random.ts';
import { readStyleFile } from '../platform/style-file.ts';
import { pageTextsOf, scopeText } from '../texts/pages/page-texts.ts';
import { phonePageTexts } from '../texts/phone-page-texts.ts';
import { loadPhoneFiles, type PhoneFile, type PhoneFiles, scannerFile } from './phone-files.ts';
import { iconSizes, phoneIcon } from './phone-icon.ts';

const yearSeconds = 31_536_000;
const compress = promisify(brotliCompress);
/** The page is made for each request: a quarter of its bytes, in a quarter of a millisecond. */
const pageCompression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const phoneStyle = readStyleFile(new URL('./phone.css', import.meta.url));

export function registerPhone(app: FastifyInstance, services: Services): void {
  const definition = {
    name: 'phone',
    envelope: 'management',
    prefix: '/phone',
    bodies: {},
    bodyBytesMax,
    ofTenant: true,
    isPages: true,
  } as const;
  registerSurface(app, services, definition, (route) => {
    route('/', { GET: showApp });
    route('/manifest.webmanifest', { GET: sendManifest });
    route('/worker.js', { GET: sendWorker });
    route('/icons/:file', { GET: sendIcon });
    route('/app/:hash/:folder/:file', { GET: sendModule });
  });
}

async function showApp(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const files = loadPhoneFiles();
  const nonce = randomId();
  const language = negotiateLanguage(request.headers['accept-language']);
  const home = `${tenant.baseUrl}/phone`;
  const address = (name: string): string => `${home}/app/${files.hash}/${name}`;
  const page = html`<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${phonePageTexts[language].title} · ${tenant.name}</title>
<meta name="theme-color" content="${accentOf(tenant)}">
<link rel="icon" href="${home}/icons/192.png">
<link rel="apple-touch-icon" href="${home}/icons/180.png">
<link rel="manifest" href="${home}/manifest.webmanifest">
${files.modules.map((name) => html`<link rel="modulepreload" href="${address(name)}">`)}
<style nonce="${nonce}">${trusted(styleSheet)}${trusted(phoneStyle)}${trusted(brandVariables(tenant))}</style>
</head>
<body>
<main>
<header>${brandMark(tenant)}</header>
<p id="said" role="status"></p>
<div id="app" data-base-url="${tenant.baseUrl}" data-tenant="${tenant.name}" data-worker="${home}/worker.js?v=${files.hash}" data-scanner="${address(scannerFile)}" data-scopes="${JSON.stringify(scopesInWords(language))}"></div>
<noscript><p>${phonePageTexts[language].needsScript}</p></noscript>
</main>
<script type="module" src="${address('app/main.js')}"></script>
</body>
</html>`;
  const text = `<!doctype html>\n${page.markup}\n`;
  return sendText(request, reply.headers(headersOf(home, files, nonce)), { text, brotli: () => compress(text, pageCompression) });
}

/** As the page that asks for consent says them. */
const scopesInWords = (language: Language): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...standardScopes, organizationScope, organizationsScope].map((scope) => [scope, scopeText(pageTextsOf(language), scope)]),
  );

// Scripts come from the app's own address alone, and no text becomes markup or code; one policy names the workers.
function headersOf(home: string, files: PhoneFiles, nonce: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src ${home}/app/${files.hash}/`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    `worker-src ${home}/worker.js ${home}/app/${files.hash}/`,
    "manifest-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types gatehouse-worker',
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy':
      'camera=(self), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
    'cache-control': 'no-store',
  };
}

async function sendManifest(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { baseUrl, name } = request.tenant;
  const manifest = {
    id: `${baseUrl}/phone`,
    name,
    short_name: name,
    start_url: `${baseUrl}/phone`,
    scope: `${baseUrl}/phone`,
    display: 'standalone',
    background_color: accentOf(request.tenant),
    theme_color: accentOf(request.tenant),
    icons: iconSizes.map((size) => ({
      src: `${baseUrl}/phone/icons/${size}.png`,
      sizes: `${size}x${size}`,
      type: 'image/png',
      purpose: size === 180 ? 'any' : 'any maskable',
    })),
  };
  return reply.headers(plainHeaders).type('application/manifest+json').send(JSON.stringify(manifest));
}

// The scope is the path of the page, so that nothing else of this host is ever answered by the worker.
async function sendWorker(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const scope = new URL(`${request.tenant.baseUrl}/phone`).pathname;
  reply.headers({
    ...plainHeaders,
    'service-worker-allowed': scope,
    'content-security-policy': "default-src 'none'; connect-src 'self'; img-src 'self'",
  });
  return sendText(request, reply.type('text/javascript; charset=utf-8'), loadPhoneFiles().worker);
}

async function sendIcon(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { file } = request.params as { readonly file: string }; // of the path
  const size = iconSizes.find((candidate) => file === `${candidate}.png`);
  if (size === undefined) throw reject('management.not_found', 'no_such_icon');
  return reply
    .headers({ ...plainHeaders, 'cache-control': 'public, max-age=86400' })
    .type('image/png')
    .send(phoneIcon(accentOf(request.tenant), size));
}

async function sendModule(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { hash, folder, file } = request.params as { readonly hash: string; readonly folder: string; readonly file: string }; // of the path
  const files = loadPhoneFiles();
  const found = hash === files.hash ? files.read(`${folder}/${file}`) : undefined;
  if (found === undefined) throw reject('management.not_found', 'no_such_file');
  reply.headers({
    'x-content-type-options': 'nosniff',
    'cache-control': `public, max-age=${yearSeconds}, immutable`,
    // What the reader of codes may do, which is a worker.
    'content-security-policy': `default-src 'none'; script-src ${request.tenant.baseUrl}/phone/app/${files.hash}/`,
  });
  return sendText(request, reply.type('text/javascript; charset=utf-8'), found);
}

/** Compressed for browsers that take it: nothing here is secret, so no length tells anything. */
async function sendText(request: FastifyRequest, reply: FastifyReply, { text, brotli }: PhoneFile): Promise<FastifyReply> {
  reply.header('vary', 'accept-encoding');
  if (!takesBrotli(request.headers['accept-encoding'])) return reply.send(text);
  return reply.header('content-encoding', 'br').send(await brotli());
}

const plainHeaders = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' } as const;
