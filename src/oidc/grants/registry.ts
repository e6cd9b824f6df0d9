// The grant types of the token endpoint. Dispatch, discovery, client registration and `unsupported_grant_type` read this list.
import { authorizationCodeGrant } from './authorization-code.ts';
import { cibaGrant } from './ciba.ts';
import { clientCredentialsGrant } from './client-credentials.ts';
import type { TokenGrant } from './grant.ts';
import { refreshTokenGrant } from './refresh-token.ts';

export const grants: readonly TokenGrant[] = [authorizationCodeGrant, refreshTokenGrant, clientCredentialsGrant, cibaGrant];

const byType: ReadonlyMap<string, TokenGrant> = new Map(grants.map((grant) => [grant.grantType, grant]));

export const findGrantType = (grantType: string): TokenGrant | undefined => byType.get(grantType);
