// Reads the parameters of the SAML bindings from the raw query or form text, keeping each value as it was written: the
// Redirect signature covers those bytes (SAML bindings 3.4.4.1). Called by the SSO and post-back endpoints.

export interface RawParameter {
  readonly raw: string;
  readonly value: string;
}

type ParametersRefusal = 'repeated_parameter' | 'encoded_parameter_name' | 'bad_percent_encoding';

type ParametersReading =
  | { readonly ok: true; readonly parameters: ReadonlyMap<string, RawParameter> }
  | { readonly ok: false; readonly reason: ParametersRefusal; readonly name: string };

/** Every parameter once, by its literal name. `text` is a query without its `?`, or a form body. */
export function parseParameters(text: string): ParametersReading {
  const parameters = new Map<string, RawParameter>();
  for (const pair of text === '' ? [] : text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = at < 0 ? pair : pair.slice(0, at);
    const raw = at < 0 ? '' : pair.slice(at + 1);
    if (/[%+]/.test(name)) return { ok: false, reason: 'encoded_parameter_name', name };
    if (parameters.has(name)) return { ok: false, reason: 'repeated_parameter', name };
    const value = decode(raw);
    if (value === undefined) return { ok: false, reason: 'bad_percent_encoding', name };
    parameters.set(name, { raw, value });
  }
  return { ok: true, parameters };
}

function decode(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return undefined; // a stray percent sign, or bytes that are not UTF-8
  }
}
