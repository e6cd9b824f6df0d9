// The handler of each grant type: a type without one does not compile. Names and rules are in domain/oidc/grant-types.ts.
import {
  cibaGrantType,
  deviceCodeGrantType,
  exchangeGrantType,
  type GrantType,
  jwtBearerGrantType,
} from '../../domain/oidc/grant-types.ts';
import { authorizationCodeGrant } from './authorization-code.ts';
import { cibaGrant } from './ciba.ts';
import { clientCredentialsGrant } from './client-credentials.ts';
import { deviceCodeGrant } from './device-code.ts';
import type { TokenGrant } from './grant.ts';
import { jwtBearerGrant } from './jwt-bearer.ts';
import { refreshTokenGrant } from './refresh-token.ts';
import { tokenExchangeGrant } from './token-exchange.ts';

export const grantHandlers: Readonly<Record<GrantType, TokenGrant>> = {
  authorization_code: authorizationCodeGrant,
  refresh_token: refreshTokenGrant,
  client_credentials: clientCredentialsGrant,
  [cibaGrantType]: cibaGrant,
  [deviceCodeGrantType]: deviceCodeGrant,
  [jwtBearerGrantType]: jwtBearerGrant,
  [exchangeGrantType]: tokenExchangeGrant,
};
