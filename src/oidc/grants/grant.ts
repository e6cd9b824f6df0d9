// What one grant type is at the token endpoint. oidc/token.ts owns the phases; a grant fills in how its proof is examined
// and redeemed, and can skip no phase. registry.ts lists them all.
import type { OpaqueRowId } from '../../contract/catalogue.ts';
import type { Client } from '../../domain/client.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { EndpointRequest } from '../../http/endpoint.ts';
import type { Services } from '../../http/services.ts';
import type { Grant } from '../../storage/grants.ts';
import type { RequestParameters } from '../parameters.ts';

/** A token request after its client is authenticated. */
export interface TokenRequest {
  readonly services: Services;
  readonly request: EndpointRequest;
  readonly tenant: Tenant;
  readonly client: Client;
  readonly parameters: RequestParameters;
  /** Thumbprint of the key a DPoP proof of this request proves (RFC 9449); undefined without one. */
  readonly proofKey: string | undefined;
}

/** What a request may have: found by examining its proof, before anything is used up. */
export interface Examined {
  /** The authorization of a user; undefined when the client acts for itself. */
  readonly grant: Grant | undefined;
  /** Scopes it may ask for; all of them when it asks for none. */
  readonly scopes: readonly string[];
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
}

export interface Issue {
  readonly accessTokenLifetimeSeconds: number;
  readonly scopes: readonly string[];
}

export interface TokenGrant {
  readonly grantType: string;
  /** True when public clients may use it. */
  readonly allowsPublicClients: boolean;
  /** True when ID tokens of it repeat the nonce of the authorization request. */
  readonly repeatsNonce: boolean;
  /** Reads and decides; throws the grant's row. May answer without a promise. */
  readonly examine: (request: TokenRequest) => Promise<Examined> | Examined;
}
