// What one grant type is at the token endpoint. oidc/token.ts owns the phases; a grant fills in how its proof is examined
// and redeemed, and can skip no phase. handlers.ts has them all.
import type { FastifyRequest } from 'fastify';
import type { OpaqueRowId } from '../../contract/catalogue.ts';
import type { Cause } from '../../contract/contract-error.ts';
import type { KeyRing } from '../../crypto/key-ring.ts';
import type { Client } from '../../domain/client/client.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import type { Actor } from '../../tokens/access-token.ts';
import type { ClientAuthDeps } from '../client/client-authentication.ts';
import type { RequestParameters } from '../parameters.ts';

/** A token request after its client is authenticated. */
export interface TokenRequest {
  readonly services: ClientAuthDeps & Parts<'activity' | 'keyRings' | 'mail'>;
  readonly request: FastifyRequest;
  readonly tenant: Tenant;
  readonly client: Client;
  readonly parameters: RequestParameters;
  /** Thumbprint of the key a DPoP proof of this request proves (RFC 9449); undefined without one. */
  readonly proofKey: string | undefined;
  /** Thumbprint of the certificate its tokens are bound to (RFC 8705); undefined for none. */
  readonly certificate: string | undefined;
}

/** What a request may have: found by examining its proof, before anything is used up. */
export interface Examined {
  /** The authorization of a user; undefined when the client acts for itself. */
  readonly grant: Grant | undefined;
  /** Scopes it may ask for; all of them when it asks for none. */
  readonly scopes: readonly string[];
  /** A scope that is asked for to no effect. */
  readonly unheardScope?: string;
  /** The one audience besides the issuer; undefined for the issuer alone. */
  readonly resource: string | undefined;
  /** How the state of user and gate is refused: the grant's opaque row. */
  readonly refusal: OpaqueRowId;
  /** State of the user now; undefined when the client acts for itself. */
  readonly userState: string | undefined;
  /**
   * Uses the proof up: one conditional statement in one transaction with everything that must stay. Throws the row when
   * somebody else used it. Gives the refresh token to answer with.
   */
  readonly redeem: ((issue: Issue) => Promise<string | undefined>) | undefined;
  /** Claims of a profile for the ID token. */
  readonly idTokenClaims?: Readonly<Record<string, string>>;
  readonly exchanged?: Exchanged;
}

/** Scopes and the one audience of a token. */
export interface Opened {
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
}

/** What a token says that stands for another one (RFC 8693). */
export interface Exchanged {
  /** Scopes and audience, judged by the token and what the client may exchange it for, instead of by its registration. @throws the grant's rows */
  readonly narrow: () => Opened;
  readonly sub: string;
  readonly act: Actor | undefined;
  readonly notAfterSeconds: number;
  /** RFC 8693 2.2.1. */
  readonly issuedTokenType: string;
  /** What is answered where that is no access token (RFC 8693 2.2.1: token_type N_A). */
  readonly assertion?: {
    readonly lifetimeSeconds: number;
    readonly mint: (keys: KeyRing, scopes: readonly string[]) => Promise<string>;
  };
}

export interface Issue extends Opened {
  readonly accessTokenLifetimeSeconds: number;
}

export interface TokenGrant {
  /**
   * The client of a request that presents no credential, where the proof of the grant is one. @throws the grant's row
   */
  readonly identify?: (services: ClientAuthDeps, request: FastifyRequest, parameters: RequestParameters) => Promise<Client>;
  /** True when ID tokens of it repeat the nonce of the authorization request. */
  readonly repeatsNonce: boolean;
  /** The row of a request that a hook denies. */
  readonly denied: (cause: Cause) => Error;
  /** Reads and decides; throws the grant's row. May answer without a promise. */
  readonly examine: (request: TokenRequest) => Promise<Examined> | Examined;
}

/** What a client hears of a grant it may not use. */
export const grantNotAllowedText = 'This client may not use this grant.';
