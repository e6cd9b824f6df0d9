// What makes a request ambiguous before any surface sees it: headers that may be there once only. Two parsers in a row
// (a proxy's and ours) must not be able to read one request differently.
import type { IncomingMessage } from 'node:http';

/** Takes the place of repeated Authorization headers; no scheme reads it and, for its leading space, nobody can send it. */
export const repeatedCredentials = ' repeated';

/** The reason to refuse the request line and headers, or undefined. Repeated credentials are made unusable, not refused here. */
export function findRequestFault(request: IncomingMessage): string | undefined {
  const { rawHeaders, headers } = request;
  let contentTypes = 0;
  let hosts = 0;
  let credentials = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index]!;
    if (length === 4 && rawHeaders[index]!.toLowerCase() === 'host') hosts += 1;
    else if (length === 13 && rawHeaders[index]!.toLowerCase() === 'authorization') credentials += 1;
    else if (length === 12 && rawHeaders[index]!.toLowerCase() === 'content-type') contentTypes += 1;
  }
  if (credentials > 1) headers.authorization = repeatedCredentials;
  if (hosts > 1) return 'repeated_host';
  if (contentTypes > 1) return 'repeated_content_type';
  return hosts === 0 && request.httpVersion === '1.1' ? 'no_host' : undefined;
}

/** True when the body is declared to be encoded (compressed), which no endpoint of ours takes. */
export function isEncoded(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'];
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity';
}
