// What is wrong with values of the configuration, those too that a server only uses later: said at the start, by the name of the setting.
// Secrets are not quoted. Called by config.ts.
import { createSecureContext } from 'node:tls';
import { decodeMasterKey } from '../crypto/master-key.ts';
import { hostUrlsOf } from '../platform/database-url.ts';

/** What is wrong with the address of a service that has one of these schemes; undefined when nothing is. */
export function serviceFault(name: string, text: string, schemes: readonly string[]): string | undefined {
  const url = URL.parse(text);
  const scheme = url?.protocol.slice(0, -1) ?? '';
  if (url !== null && url.hostname !== '' && schemes.includes(scheme)) return undefined;
  return `${name}: expected ${schemes.map((one) => `${one}://host`).join(' or ')}, found ${url === null ? 'no URL' : `${scheme}:`}`;
}

export const masterKeyFault = (text: string): string | undefined => thrownBy(() => decodeMasterKey(text, 'master_key'));

export function mtlsFilesFault(files: {
  readonly key: string;
  readonly certificate: string;
  readonly authorities: string | undefined;
}): string | undefined {
  const fault = thrownBy(() => createSecureContext({ key: files.key, cert: files.certificate, ca: files.authorities ?? [] }));
  return fault && `mtls_tls: expected PEM files of a private key and its certificate, found what OpenSSL calls ${fault}`;
}

export function databaseUrlFault(text: string): string | undefined {
  const fault = thrownBy(() => hostUrlsOf(text));
  return fault && `database_url: ${fault}`;
}

export const otlpUrlFault = (text: string): string | undefined =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? '')
    ? undefined
    : `otlp_url: expected an http or https URL such as http://127.0.0.1:4318, found ${URL.parse(text)?.protocol ?? 'no URL'}`;

function thrownBy(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as Error).message; // these readers throw Errors only
  }
}

/** RFC 5322: an address, with or without a name before it. */
export function mailFromFault(text: string): string | undefined {
  if (/^(?:[^<>]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/.test(text)) return undefined;
  return `mail_from: expected an address such as Gatehouse <id@example.com>, found ${text}`;
}
