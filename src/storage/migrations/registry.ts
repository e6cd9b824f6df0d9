// The one migration history of both databases: numbered, additive, forward-only (R9). A released entry never changes.
import { foundation } from './0001-foundation.ts';
import { signin } from './0002-signin.ts';
import { oidc } from './0003-oidc.ts';
import { devices } from './0004-devices.ts';
import { management } from './0005-management.ts';
import { saml } from './0006-saml.ts';
import { provisioning } from './0008-provisioning.ts';
import { push } from './0009-push.ts';
import { oidcClients } from './0040-oidc-clients.ts';
import { passkeys } from './0050-passkeys.ts';
import { account } from './0051-account.ts';
import { activity } from './0053-activity.ts';
import { approvalClaims } from './0054-approval-claims.ts';
import { lookups } from './0060-lookups.ts';
import type { MigrationContext } from './table.ts';

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly apply: (context: MigrationContext) => Promise<void>;
}

export const migrations: readonly Migration[] = [
  { number: 1, name: 'foundation', apply: foundation },
  { number: 2, name: 'signin', apply: signin },
  { number: 3, name: 'oidc', apply: oidc },
  { number: 4, name: 'devices', apply: devices },
  { number: 5, name: 'management', apply: management },
  { number: 6, name: 'saml', apply: saml },
  { number: 8, name: 'provisioning', apply: provisioning },
  { number: 9, name: 'push', apply: push },
  { number: 40, name: 'oidc-clients', apply: oidcClients },
  { number: 50, name: 'passkeys', apply: passkeys },
  { number: 51, name: 'account', apply: account },
  { number: 53, name: 'activity', apply: activity },
  { number: 54, name: 'approval-claims', apply: approvalClaims },
  { number: 60, name: 'lookups', apply: lookups },
];
