// A simulated phone on the device SDK: enrols with an administrator's link and approves what it is shown.

import type { BenchTenant } from '../bench/tenant.ts';
import { createDevice, memoryStore, parseEnrollmentLink } from '../sdk/device.ts';
import { createSoftwareVault } from '../sdk/node.ts';
import type { Decide } from './person.ts';
import type { SyncedPerson } from './scim-sync.ts';
import type { Setup } from './setup.ts';
import { say } from './transcript.ts';

const waitSeconds = 20;

/** Enrols a phone for the person; gives what approves a sign-in by typing the number the page shows. */
export async function addPhone(tenant: BenchTenant, setup: Setup, person: SyncedPerson): Promise<{ readonly approve: Decide }> {
  const made = (await setup.manage(`/users/${person.id}/enrollments`, 'POST', {})) as { qr_uri: string };
  const link = parseEnrollmentLink(made.qr_uri);
  if (link === undefined) throw new Error(`expected an enrolment link, found ${made.qr_uri}`);
  say(`the administrator's QR code says ${made.qr_uri.slice(0, made.qr_uri.indexOf('t=') + 8)}…`);
  const device = createDevice({ baseUrl: tenant.baseUrl, store: memoryStore(), vault: createSoftwareVault(memoryStore()) });
  await device.redeemEnrollment(link.token, { platform: 'other', name: 'Demo phone' });
  await device.enroll();
  say('the phone has two keys: one signs every request, one approves');
  return {
    approve: async (number) => {
      const [approval] = await device.listApprovals(waitSeconds);
      if (approval === undefined) throw new Error('expected something to approve, found nothing');
      say(`the page shows ${number}; the phone shows a ${approval.type} and its person types the number`);
      await device.approve(approval, number);
    },
  };
}
