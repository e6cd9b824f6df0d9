// The pages of issuers of programs' tokens: where the keys of one are is chosen and typed, where the API has an object of three forms.
import { kinds } from '../../domain/kinds.ts';
import type { FormField } from '../../first-party/form-field.ts';
import { pagesOfKind } from '../frame/kind-pages.ts';
import type { ConsoleResource } from '../frame/resource.ts';

type Json = Readonly<Record<string, unknown>>;

const pages = pagesOfKind(kinds.workload_issuer);
const places = { own: { label: 'In its own discovery document' }, discovery: { label: 'In a discovery document elsewhere' } };
const others = { address: { label: 'At an address of keys' }, keys: { label: 'Here: they are pasted' } };

const keyFields: readonly FormField[] = [
  {
    path: 'keys_are',
    apiPath: 'keys',
    label: 'Where its keys are',
    kind: 'select',
    options: Object.keys({ ...places, ...others }),
    optionLabels: { ...places, ...others },
  },
  {
    path: 'keys_address',
    apiPath: 'keys',
    label: 'Address of the document or the keys',
    kind: 'text',
    hint: 'Needed for the choices in the middle.',
  },
  {
    path: 'keys_pasted',
    apiPath: 'keys',
    label: 'The keys',
    kind: 'keys',
    hint: 'Needed for the last choice: the JSON Web Key Set, or one key.',
  },
];

/** What the API has, for the form. */
function toForm(json: Json): Json {
  const { discovery, jwks_uri: address, jwks } = (json['keys'] ?? {}) as Json; // the API's shape
  const is = jwks !== undefined ? 'keys' : address !== undefined ? 'address' : typeof discovery === 'string' ? 'discovery' : 'own';
  return { ...json, keys_are: is, keys_address: address ?? (discovery === true ? undefined : discovery), keys_pasted: jwks };
}

function toApi({ keys_are: is, keys_address: address, keys_pasted: jwks, ...json }: Json): Json {
  if (is === undefined) return json;
  if (is === 'keys') return { ...json, keys: { jwks } };
  return { ...json, keys: is === 'address' ? { jwks_uri: address } : { discovery: is === 'discovery' ? address : true } };
}

export const workloadIssuers: ConsoleResource = {
  ...pages,
  fields: pages.fields.flatMap((field) => (field.path === 'keys' ? keyFields : [field])),
  toForm,
  toApi,
};
