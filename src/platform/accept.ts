// What Accept headers prefer: whether an endpoint answers with a page or JSON (RFC 9110 12.5.1), and compressed (12.5.3).

/** True when text/html is named and ranks above application/json; a bare wildcard or no header never asks for a page. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const html = qualityOf(accept, 'text', 'html');
  return namesType(accept, 'text/html') && html > 0 && html > qualityOf(accept, 'application', 'json');
}

/** True when application/json is named and ranks at least as high as text/html. */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const json = qualityOf(accept, 'application', 'json');
  return namesType(accept, 'application/json') && json > 0 && json >= qualityOf(accept, 'text', 'html');
}

/** True when application/x-ndjson is named and ranks at least as high as application/json. */
export function prefersLines(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const lines = qualityOf(accept, 'application', 'x-ndjson');
  return namesType(accept, 'application/x-ndjson') && lines > 0 && lines >= qualityOf(accept, 'application', 'json');
}

/** True when an Accept-Encoding header names Brotli, with any weight but none. */
export function takesBrotli(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && rangesOf(acceptEncoding).some(({ type, quality }) => type === 'br' && quality > 0);
}

function namesType(accept: string, type: string): boolean {
  return rangesOf(accept).some((range) => range.type === type);
}

// The most specific range that matches decides.
function qualityOf(accept: string, type: string, subtype: string): number {
  const ranges = rangesOf(accept);
  for (const wanted of [`${type}/${subtype}`, `${type}/*`, '*/*']) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

function rangesOf(accept: string): readonly { readonly type: string; readonly quality: number }[] {
  return accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const value = quality === undefined ? 1 : Number(quality.slice(2));
    return { type, quality: Number.isNaN(value) ? 0 : value };
  });
}
