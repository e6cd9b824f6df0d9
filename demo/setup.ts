// The administrator of the demo: settings, clients and enrolments over the Management API.
import { type BenchTenant, call, managementToken } from '../bench/tenant.ts';

export interface Setup {
  /** A call on the Management API with the administrator's token. */
  readonly manage: (path: string, method: string, body?: unknown) => Promise<unknown>;
  readonly registerClient: (uris: {
    readonly redirectUri: string;
    readonly postLogoutRedirectUri: string;
  }) => Promise<{ readonly clientId: string; readonly clientSecret: string }>;
}

/** Switches email PIN and phone sign-in on and gives the administrator's calls. */
export async function openSetup(tenant: BenchTenant): Promise<Setup> {
  const token = await managementToken(tenant);
  const manage = (path: string, method: string, body?: unknown): Promise<unknown> =>
    call(`${tenant.managementApi}${path}`, token, method, body);
  await manage('/settings', 'PATCH', { login_methods: ['phone', 'email_pin'] });
  return {
    manage,
    registerClient: async ({ redirectUri, postLogoutRedirectUri }) => {
      const made = await manage('/clients', 'POST', {
        name: 'A sample application',
        type: 'confidential',
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [postLogoutRedirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        scopes: ['openid', 'profile', 'email', 'offline_access'],
      });
      const { client_id: clientId, client_secret: clientSecret } = made as { client_id: string; client_secret: string };
      return { clientId, clientSecret };
    },
  };
}
