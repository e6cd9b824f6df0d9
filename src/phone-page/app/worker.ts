// The service worker: keeps the app, so that it opens without a connection, and shows what is pushed. It never keeps or answers
// anything of the API.

interface WorkerScope extends EventTarget {
  readonly location: { readonly href: string };
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    readonly matchAll: (options: { readonly type: 'window'; readonly includeUncontrolled: true }) => Promise<readonly PageClient[]>;
    readonly openWindow: (url: string) => Promise<unknown>;
  };
  readonly skipWaiting: () => Promise<void>;
}
interface PageClient {
  readonly url: string;
  readonly focus: () => Promise<unknown>;
}
interface PushEvent extends WorkerEvent {
  readonly data: { readonly text: () => string } | null;
}
interface NotificationEvent extends WorkerEvent {
  readonly notification: Notification;
}
interface WorkerEvent extends Event {
  readonly waitUntil: (work: Promise<unknown>) => void;
}
interface FetchEvent extends Event {
  readonly request: Request;
  readonly respondWith: (answer: Promise<Response>) => void;
}

const scope = self as unknown as WorkerScope; // in a worker this is its global scope
const version = new URL(scope.location.href).searchParams.get('v') ?? '';
const shell = scope.registration.scope;
const appPath = `${new URL(shell).pathname}/app/`;

scope.addEventListener('install', (event) => {
  (event as WorkerEvent).waitUntil(keepApp().then(() => scope.skipWaiting()));
});

scope.addEventListener('activate', (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== version).map((name) => caches.delete(name))));
  (event as WorkerEvent).waitUntil(old);
});

scope.addEventListener('fetch', (event) => {
  const { request, respondWith } = event as FetchEvent;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== new URL(shell).origin) return;
  if (pathname.startsWith(appPath)) respondWith.call(event, keptFirst(request));
  else if (pathname === new URL(shell).pathname) respondWith.call(event, freshFirst(request));
});

scope.addEventListener('push', (event) => {
  const { data, waitUntil } = event as PushEvent;
  waitUntil.call(event, showPush(data?.text() ?? ''));
});

scope.addEventListener('notificationclick', (event) => {
  const { notification, waitUntil } = event as NotificationEvent;
  notification.close();
  waitUntil.call(event, openApp());
});

/** Every push is shown, as browsers demand: the sentence of the server, one notification an approval. */
function showPush(text: string): Promise<void> {
  const { body, approval_id: tag } = parseObject(text);
  const options = { icon: `${shell}/icons/192.png`, ...(typeof tag === 'string' ? { tag } : {}) };
  return scope.registration.showNotification(typeof body === 'string' ? body : new URL(shell).host, options);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}; // an object
  } catch {
    return {};
  }
}

async function openApp(): Promise<void> {
  const pages = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const open = pages.find(({ url }) => new URL(url).pathname === new URL(shell).pathname);
  await (open === undefined ? scope.clients.openWindow(shell) : open.focus());
}

/** The page and the modules it names: what opens the app without a connection. */
async function keepApp(): Promise<void> {
  const cache = await caches.open(version);
  const page = await fetch(shell, { cache: 'no-store' });
  const modules = [...(await page.clone().text()).matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, address]) => address ?? '');
  await Promise.all([cache.put(shell, page), cache.addAll(modules)]);
}

/** Files of the app never change under their address. */
async function keptFirst(request: Request): Promise<Response> {
  const cache = await caches.open(version);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

async function freshFirst(request: Request): Promise<Response> {
  const cache = await caches.open(version);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(shell, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(shell);
    if (kept === undefined) throw error;
    return kept;
  }
}
