// The one place where a text becomes code: the addresses of the two workers, which the server wrote into the page. The policy
// refuses every other text.
import { found } from './dom.ts';

interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ) => { readonly createScriptURL: (url: string) => unknown };
}

const { worker = '', scanner = '' } = found<HTMLElement>(document, '#app').dataset;
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy('gatehouse-worker', {
  createScriptURL: (url) => {
    if (url !== worker && url !== scanner) throw new Error('expected a worker of this app');
    return url;
  },
});
const trust = (address: string): string => (policy?.createScriptURL(address) ?? address) as string; // what the browser takes for one

/** Lets the app open without a connection and show what is pushed. */
export function registerServiceWorker(): Promise<ServiceWorkerRegistration> | undefined {
  return navigator.serviceWorker?.register(trust(worker), { scope: location.pathname });
}

/** Reads codes off the page's own thread; loaded with the camera only. */
export const startScanner = (): Worker => new Worker(trust(scanner), { type: 'module' });
