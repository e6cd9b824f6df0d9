// What a client that registers itself may be (design 14, 6): the policy of the initial access token it came with, as a table of
// fields, and what in a registration goes beyond it. Pure.
import {
  initialAccessTokenSecondsMax,
  initialAccessTokenUsesMax,
  policyHostsMax,
  scopeNameCharsMax,
  scopesPerListMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { choice, count, type FieldFault, field, list, seconds, text, type ValuesOf } from '../field.ts';
import { codeGrantType, grantTypeNames, grantTypes, refreshGrantType } from '../oidc/grant-types.ts';
import type { ClientChange } from './client.ts';

// biome-ignore format: a field a line or two
export const policyFields = {
  hosts: field('hosts', list(text(urlCharsMax), policyHostsMax), { default: [], form: 'new', label: 'Hosts',
    help: 'One a line: where its addresses may be, such as app.example.com; for an app the scheme with its colon, such as com.example.app:.' }),
  grantTypes: field('grant_types', list(choice(grantTypeNames, grantTypes)), { default: [codeGrantType, refreshGrantType], form: 'new',
    label: 'Grants' }),
  scopes: field('scopes', list(text(scopeNameCharsMax), scopesPerListMax), { default: [], form: 'new', label: 'Scopes', help: 'One a line.' }),
} as const;

export type RegistrationPolicy = ValuesOf<typeof policyFields>;

export const initialAccessTokenFields = {
  count: field('count', count(1, initialAccessTokenUsesMax), { default: 1, form: 'new', label: 'Applications that may register with it' }),
  expiresInSeconds: field('expires_in_seconds', seconds(1, initialAccessTokenSecondsMax), {
    default: 86_400,
    form: 'new',
    label: 'Ends after, in seconds',
  }),
  policy: policyFields,
} as const;

/** The fields of a registration that hold addresses. */
const addressFields = [
  'redirect_uris',
  'post_logout_redirect_uris',
  'jwks_uri',
  'logo_uri',
  'backchannel_logout_uri',
  'backchannel_client_notification_endpoint',
] as const;

/** The first value of a registration that the policy does not allow. */
export function policyFault(change: ClientChange, policy: RegistrationPolicy): FieldFault | undefined {
  for (const name of addressFields) {
    const outside = [change[name] ?? []].flat().find((uri) => !policy.hosts.includes(hostOf(uri)));
    if (outside !== undefined) return { field: name, text: 'has an address that this registration may not use' };
  }
  if (change.grant_types?.some((grant) => !policy.grantTypes.includes(grant)) === true)
    return { field: 'grant_types', text: 'has a grant that this registration may not use' };
  if (change.scopes?.some((scope) => !policy.scopes.includes(scope)) === true)
    return { field: 'scopes', text: 'has a scope that this registration may not use' };
  return undefined;
}

/** The host of a web address; the scheme of an app's, with the colon that no host has. */
function hostOf(uri: string): string {
  const url = URL.parse(uri);
  if (url === null) return '';
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.hostname : url.protocol;
}
