// Which scopes an exchange gives (RFC 8693 2.1).
import { reject } from '../../contract/contract-error.ts';
import type { RequestParameters } from '../parameters.ts';
import { parseScopes } from '../scopes.ts';

/** Those asked for, or all there are. Never `openid`: an exchange signs nobody in. @param unheard what is asked for to no effect */
export function requestedScopes(parameters: RequestParameters, available: readonly string[], unheard?: string): readonly string[] {
  const open = [...new Set(available)].filter((scope) => scope !== 'openid');
  const text = parameters.get('scope');
  const requested = text === undefined || text === unheard ? open : parseScopes(text)?.filter((scope) => scope !== unheard);
  if (requested === undefined)
    throw reject('exchange.invalid_scope', { reason: 'scope_malformed', received: text }, { text: 'scope is malformed.' });
  const outside = requested.find((scope) => !open.includes(scope));
  if (outside !== undefined)
    throw reject(
      'exchange.invalid_scope',
      { reason: 'scope_not_granted', received: outside, expected: open.join(' ') },
      { text: 'A scope was not granted.' },
    );
  return requested;
}
