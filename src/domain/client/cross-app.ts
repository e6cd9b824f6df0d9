// What a client may ask for of other companies' servers in the name of people who signed in here (draft-ietf-oauth-identity-assertion-authz-grant;
// design 18, part 5): the field of its registration. Pure; client.ts owns the client.
import { scopeNameCharsMax, scopesPerListMax, urlCharsMax } from '../../contract/limits.ts';
import { field, json, text } from '../field.ts';
import { audienceFault, calledUriFault } from './client-uris.ts';
import { sameResource } from './resource.ts';

export const crossAppRowsMax = 20;
const resourcesPerRowMax = 20;

/** At the server of that issuer, where it is that client: the APIs, and what it may do there. */
export interface CrossApp {
  readonly issuer: string;
  readonly client_id: string;
  readonly resources: readonly string[];
  readonly scopes: readonly string[];
}

const uri = text(urlCharsMax).shape;
const rows = {
  ...json<readonly CrossApp[]>({
    type: 'array',
    items: {
      type: 'object',
      required: ['issuer', 'client_id', 'resources', 'scopes'],
      properties: {
        issuer: uri,
        client_id: { type: 'string', minLength: 1, maxLength: urlCharsMax },
        resources: { type: 'array', items: uri, minItems: 1, maxItems: resourcesPerRowMax },
        scopes: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: scopeNameCharsMax },
          minItems: 1,
          maxItems: scopesPerListMax,
        },
      },
      additionalProperties: false,
    },
    maxItems: crossAppRowsMax,
  }),
  input: 'rows',
  parts: [
    { name: 'issuer', label: 'Issuer of the other server', input: 'text' },
    { name: 'client_id', label: 'Its client ID there', input: 'text' },
    { name: 'resources', label: 'APIs there', input: 'words' },
    { name: 'scopes', label: 'Scopes there', input: 'words' },
  ],
} as const;

export const crossAppFields = {
  crossAppAccess: field('cross_app_access', rows, {
    default: [],
    label: 'Other companies’ servers it acts at',
    tab: 'Acts for',
    help: 'It vouches there for a person who signed in to it (identity assertion, ID-JAG), without asking them. It needs token exchange among its grants.',
    check: rowsFault,
  }),
} as const;

function rowsFault(all: readonly CrossApp[]): string | undefined {
  for (const [at, { issuer, client_id, resources, scopes }] of all.entries()) {
    const fault = calledUriFault(issuer);
    if (fault !== undefined) return `has an issuer that ${fault}`;
    if (all.findIndex((one) => sameResource(one.issuer, issuer)) < at) return `must name ${issuer} once`;
    // RFC 6749 A.1: VSCHAR
    if (!/^[\x20-\x7e]+$/.test(client_id)) return 'must have a client_id of printable ASCII';
    const wrong = resources.map(audienceFault).find((one) => one !== undefined);
    if (wrong !== undefined) return `has a resource that ${wrong}`;
    // RFC 6749 3.3: scope-token
    if (scopes.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
      return 'must hold scope names without spaces, quotes and backslashes';
  }
  return undefined;
}
