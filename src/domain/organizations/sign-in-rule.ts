// What an organisation asks of sign-ins for it (design 19), and what a sign-in is worth there: the provider of a customer lifts nobody for
// another. Pure.
import { type AuthenticationMethod, externalMethod, federatedAcr, meetsAcrValues } from '../sign-in/login-methods.ts';
import type { Organization } from './organization.ts';

/** An organisation as its sign-ins are judged. */
export interface SignInRule extends Pick<Organization, 'signIn' | 'acrMin'> {
  readonly id: string;
}

/** A sign-in that was done. */
export interface SignInDone {
  readonly method: AuthenticationMethod;
  readonly acr: string | undefined;
  /** The organisation by whose own provider the person came, also where they proved more here afterwards. */
  readonly providerOf: string | undefined;
}

/** What a sign-in is worth for an organisation, or for none. */
export const acrFor = ({ method, acr, providerOf }: SignInDone, organization: string | undefined): string | undefined =>
  method === externalMethod && providerOf !== undefined && providerOf !== organization ? federatedAcr : acr;

type Unmet = 'own_provider' | 'strength';

/** What a sign-in lacks for an organisation. */
export function unmetOf({ id, signIn, acrMin }: SignInRule, done: SignInDone): Unmet | undefined {
  if (signIn === 'own_providers' && done.providerOf !== id) return 'own_provider';
  return acrMin !== undefined && !meetsAcrValues(acrFor(done, id), acrMin) ? 'strength' : undefined;
}
