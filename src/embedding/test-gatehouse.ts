// A test identity provider: a real server with an empty database in a temporary folder, made with people and applications, in which
// people sign in by a simulated phone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Device } from '../../sdk/device.ts';
import { applyDocument } from '../administration/declaration/apply.ts';
import { createEnrollment } from '../administration/people/enrollments.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import { findUserByIdentifier } from '../storage/people/users.ts';
import { composeEmbedded } from './compose-embedded.ts';
import type { GatehouseSettings } from './gatehouse.ts';
import { openTestPhone, signInByPhone } from './phone-sign-in.ts';

type Json = Readonly<Record<string, unknown>>;

interface TestGatehouseOptions {
  /** Fields of the Management API, e.g. `user_name` and `email`, or `emails`. */
  readonly users?: readonly (Json & { readonly user_name: string; readonly email?: string })[];
  /** Fields of the Management API; `client_id` is the name unless it is given, scopes are those of OpenID Connect unless they are given. */
  readonly clients?: readonly (Json & { readonly name: string })[];
  /** Settings of the tenant, e.g. `access_token_lifetime_seconds`. */
  readonly tenant?: Json;
  /** Settings of the server, e.g. `listen` for a port of your own. */
  readonly server?: GatehouseSettings;
}

export interface TestGatehouse {
  readonly url: string;
  readonly issuer: string;
  readonly clients: readonly { readonly name: string; readonly client_id: string; readonly client_secret: string | undefined }[];
  /** Signs a person in at an authorization URL; gives where the browser is sent then. */
  readonly signIn: (user: string, authorizeUrl: string | URL) => Promise<{ readonly callbackUrl: string }>;
  readonly close: () => Promise<void>;
}

const openidScopes = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access'];

/** Starts a server on a free port of localhost with these people and applications. @throws DeclarationFault that names the field */
export async function startTestGatehouse({ users = [], clients = [], tenant, server }: TestGatehouseOptions = {}): Promise<TestGatehouse> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const settings = { listen: 'localhost:0', log_level: 'error', data: folder, dev: true, rate_limits: 'off', ...server };
    const { embedded, composed } = await composeEmbedded(settings, { withSample: false });
    const close = async (): Promise<void> => {
      await embedded.close();
      removeFolder();
    };
    try {
      const url = await embedded.listen();
      const { services } = composed;
      const declared = clients.map((client) => ({ client_id: client.name, scopes: openidScopes, ...client }));
      const document = {
        gatehouse: 1,
        ...(tenant === undefined ? {} : { settings: tenant }),
        ...(declared.length === 0 ? {} : { clients: declared }),
        ...(users.length === 0 ? {} : { users: users.map(withEmails) }),
      };
      const { secrets } = await applyDocument(services, rootTenantSlug, [JSON.stringify(document)]);
      const secretOf = new Map(secrets.map(({ clientId, secret }): [string, string] => [clientId, secret]));
      return {
        url,
        issuer: url,
        clients: declared.map(({ name, client_id }) => ({ name, client_id, client_secret: secretOf.get(client_id) })),
        signIn: makeSignIn(services, url),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    removeFolder();
    throw error;
  }
}

const withEmails = ({ email, ...user }: Json): Json => (email === undefined ? user : { emails: [{ value: email }], ...user });

/** Each person gets a phone at their first sign-in. */
function makeSignIn(services: Awaited<ReturnType<typeof composeEmbedded>>['composed']['services'], url: string): TestGatehouse['signIn'] {
  const phones = new Map<string, Promise<Device>>();
  const enrollmentLink = async (user: string): Promise<string> => {
    const tenant = (await services.tenants.bySlug(rootTenantSlug))!; // made at the first start
    return services.database.write(tenant.id, async (queries) => {
      const found = await findUserByIdentifier(queries, tenant.id, user);
      if (found === undefined) throw new Error(`expected one of the users, found ${user}`);
      return (await createEnrollment(queries, services, tenant, found.id, false)).qrUri;
    });
  };
  return async (user, authorizeUrl) => {
    const phone = phones.get(user) ?? openTestPhone(url, () => enrollmentLink(user));
    phones.set(user, phone);
    return { callbackUrl: await signInByPhone(await phone, user, String(authorizeUrl)) };
  };
}
