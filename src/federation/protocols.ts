// How each kind of provider is spoken to. A kind is one line here and one in domain/sign-in/identity-provider.ts.
import type { ProviderKind } from '../domain/sign-in/identity-provider.ts';
import { github } from './github.ts';
import { openidProvider } from './openid-provider.ts';
import { samlProvider } from './saml/saml-provider.ts';
import type { ProviderProtocol } from './upstream.ts';

export const protocols: Readonly<Record<ProviderKind, ProviderProtocol>> = {
  oidc: openidProvider,
  github,
  saml: samlProvider,
};
