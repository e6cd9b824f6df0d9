// A server for one conformance run: ours, with an embedded database in a folder that goes afterwards, behind a gateway that makes
// faults; and what the run does there as administrator and looks up to judge.
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEnrollment } from '../../administration/people/enrollments.ts';
import { createUser } from '../../administration/people/users.ts';
import { changeSettings } from '../../administration/settings.ts';
import { createApproval, subjectKeyOf } from '../../approvals/approval.ts';
import { readConfig } from '../../config.ts';
import { foldKey } from '../../domain/fold.ts';
import type { UserId } from '../../domain/ids.ts';
import { emailPinMethod } from '../../domain/sign-in/login-methods.ts';
import { rootTenantSlug, type Tenant } from '../../domain/tenant/tenant.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { type Gatehouse, startGatehouse } from '../../server/compose.ts';
import { listDeviceKeys, listDevicesOfUser, revokeDevice } from '../../storage/device/devices.ts';
import { findApproval } from '../../storage/sign-in/approvals.ts';
import { openQueuedMail } from '../../tokens/queued-mail.ts';
import { openGateway } from './gateway.ts';

export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;

export interface Person {
  readonly id: UserId;
  readonly email: string;
}

const by = { actor: 'conformance' };
const forTests = { dev: '1', rate_limits: 'off' };

/** Starts it. `close` ends it and deletes its folder. */
export async function openSandbox() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-conformance-'));
  const gateway = await openGateway();
  const config = readConfig({ listen: '127.0.0.1:0', data: join(folder, 'data'), public_url: gateway.url, ...forTests }, {}, folder);
  const environment = { clock: systemClock, log: createLog('silent'), withSample: false };
  const gatehouse = await startGatehouse(config, environment);
  gateway.forwardTo((gatehouse.app.server.address() as AddressInfo).port);
  const { services } = gatehouse;
  const first = (await services.tenants.bySlug(rootTenantSlug))!; // every deployment has one
  await changeSettings(services, first, { device: { additional_device: emailPinMethod } }, by);
  return {
    gateway,
    folder,
    ...actsOf(services, (await services.tenants.byId(first.id))!), // the settings are new
    close: async (): Promise<void> => {
      await gateway.close();
      await gatehouse.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function actsOf(services: Gatehouse['services'], tenant: Tenant) {
  const { database, encryption } = services;
  let people = 0;
  const activeDevices = async (person: Person) => {
    const devices = await database.read(tenant.id, (queries) => listDevicesOfUser(queries, tenant.id, person.id));
    return devices.filter(({ state }) => state === 'active');
  };
  return {
    person: async (): Promise<Person> => {
      people += 1;
      const email = `person${people}@example.com`;
      const lists = { emails: [{ value: email, type: null, display: null, is_primary: 1 }] };
      const person = { state: 'active', origin: 'console', profile: { user_name: email }, lists } as const;
      const made = await createUser(services, tenant.id, person, by);
      if (!made.ok) throw new Error(`expected a new person, found ${made.field} taken`);
      return { id: made.user.row.id, email };
    },
    enrollmentToken: async (person: Person, requirePin = false): Promise<string> =>
      (await database.write(tenant.id, (queries) => createEnrollment(queries, services, tenant, person.id, requirePin))).token,
    /** The number of the newest mail to a person, and how many there are. */
    pinOf: async (person: Person): Promise<string> => {
      const [mail] = await database.system((queries) =>
        queries
          .selectFrom('outbox_messages')
          .selectAll()
          .where('recipient_key', '=', foldKey(person.email))
          .where('state', '<>', 'discarded')
          .orderBy('id', 'desc')
          .limit(1)
          .execute(),
      );
      return /^(\d{4,10})$/m.exec(mail === undefined ? '' : openQueuedMail(encryption, mail).text)?.[1] ?? '';
    },
    /** Asks the person for a decision that needs a number. */
    ask: async (person: Person): Promise<{ readonly id: string; readonly number: string }> => {
      const request = { kind: 'oidc_login', userId: person.id, subjectKey: subjectKeyOf(person.id, ''), onDevices: true } as const;
      const made = await database.write(tenant.id, (queries) =>
        createApproval(queries, tenant, { ...request, withNumber: true, lifetimeSeconds: 300 }),
      );
      if (!made.ok) throw new Error('expected an approval, found too many waiting');
      return { id: made.approvalId, number: made.number ?? '' };
    },
    stateOf: async (approval: string): Promise<string> =>
      (await database.read(tenant.id, (queries) => findApproval(queries, tenant.id, approval)))?.state ?? 'none',
    activeDevices,
    /** The public keys the server knows the person's only device by. */
    keysOf: async (person: Person): Promise<string> => {
      const [device] = await activeDevices(person);
      if (device === undefined) return '';
      const slots = await database.read(tenant.id, (queries) => listDeviceKeys(queries, tenant.id, device.id));
      return slots.map((slot) => slot.public_key).join(' ');
    },
    revoke: async (person: Person): Promise<void> => {
      for (const { id } of await activeDevices(person)) await database.write(tenant.id, (queries) => revokeDevice(queries, tenant.id, id));
    },
  };
}
