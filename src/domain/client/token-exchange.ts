// What a client may trade tokens for (RFC 8693; design 18, part 4): the fields of its registration. Pure; client.ts owns the client.
import { exchangeRowsMax, scopeNameCharsMax, scopesPerListMax, servedResourcesMax, urlCharsMax } from '../../contract/limits.ts';
import { field, json, list, text } from '../field.ts';
import { audienceFault } from './client-uris.ts';

/** For a token that has the scopes it needs, the client gets one for the resource with these scopes. */
export interface Exchange {
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly needs?: readonly string[];
}

const tab = 'Acts for';
const scopeNames = { type: 'array', items: { type: 'string', minLength: 1, maxLength: scopeNameCharsMax }, maxItems: scopesPerListMax };

const exchanges = {
  ...json<readonly Exchange[]>({
    type: 'array',
    items: {
      type: 'object',
      required: ['resource', 'scopes'],
      properties: { resource: text(urlCharsMax).shape, scopes: { ...scopeNames, minItems: 1 }, needs: scopeNames },
      additionalProperties: false,
    },
    maxItems: exchangeRowsMax,
  }),
  input: 'rows',
  parts: [
    { name: 'resource', label: 'The API it calls', input: 'text' },
    { name: 'scopes', label: 'Scopes it gets there', input: 'words' },
    { name: 'needs', label: 'Scopes of the token it was called with', input: 'words' },
  ],
} as const;

export const exchangeFields = {
  serves: field('serves', list(text(urlCharsMax), servedResourcesMax), {
    default: [],
    label: 'APIs it is',
    tab,
    cli: 'serves',
    help: 'One a line: identifiers of resources whose tokens it is called with and may exchange.',
    check: (resources) => resources.map(audienceFault).find((fault) => fault !== undefined),
  }),
  exchange: field('exchange', exchanges, {
    default: [],
    label: 'What it may exchange tokens for',
    tab,
    help: 'Without needs, any token it may exchange is enough, its own as a machine too.',
    check: exchangeFault,
  }),
} as const;

function exchangeFault(rows: readonly Exchange[]): string | undefined {
  for (const { resource, scopes, needs = [] } of rows) {
    const fault = audienceFault(resource);
    if (fault !== undefined) return `has a resource that ${fault}`;
    // RFC 6749 3.3: scope-token
    if ([...scopes, ...needs].some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
      return 'must hold scope names without spaces, quotes and backslashes';
    if (scopes.includes('openid')) return 'may not give openid: an exchange signs nobody in';
  }
  return undefined;
}
