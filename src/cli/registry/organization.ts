// `gatehouse organization …`: the commands of its kind, and the links that let somebody in: invitations by address, and set-up links for a
// customer's IT.
import type { Command } from 'commander';
import {
  makeSetupLink,
  organizationInvitationToJson,
  setupLinkToJson,
  takeSetupLinkBack,
  withdrawOrganizationInvitation,
} from '../../administration/organizations/links.ts';
import { inviteToOrganization } from '../../approvals/organization-invitations.ts';
import { openOrganizationInvitationsMax, setupLinksPerOrganizationMax } from '../../contract/organization-limits.ts';
import type { Organization } from '../../domain/organizations/organization.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listOrganizationInvitations } from '../../storage/organizations/invitations.ts';
import { listSetupLinks } from '../../storage/organizations/setup-links.ts';
import { findNamedOrganization } from '../../storage/registry/organizations.ts';
import { CommandFailure, usage } from '../failure.ts';
import {
  type Administrator,
  addCommonOptions,
  addTenantOption,
  administer,
  allPages,
  by,
  loadTenant,
  type Options,
  pageRows,
  table,
} from './administrator.ts';
import { kindCommand } from './kind.ts';
import { mailing, requireEmail } from './user.ts';

const linksShown = 50;

export function organizationCommand(program: Command): void {
  const group = kindCommand('organization', program);
  const add = (command: string, description: string, example: string): Command =>
    addCommonOptions(addTenantOption(group.command(command).description(description))).addHelpText(
      'after',
      `\nExample:\n  gatehouse organization ${example}`,
    );
  add(
    'invite <organization> <email>',
    'Ask somebody into an organisation; the link is mailed if the server can send mail',
    'invite acme ada@example.com --role approver',
  )
    .option('--role <names...>', 'roles of whoever is no member yet')
    .option('--no-mail', 'hand the link over yourself')
    .action(invite);
  add('invitations <organization>', 'List the invitations of an organisation, newest first', 'invitations acme --open')
    .option('--open', 'those that wait')
    .action(invitations);
  add(
    'withdraw-invitation <organization> <invitation>',
    'Withdraw an invitation that nobody used',
    'withdraw-invitation acme 01920000-0000-7000-8000-000000000001',
  ).action(withdraw);
  add(
    'setup-link <organization>',
    'Make a link with which somebody without an account sets up the organisation; it is shown once',
    'setup-link acme',
  ).action(setupLink);
  add(
    'setup-links <organization>',
    `List the set-up links of an organisation, newest first; at most ${linksShown}`,
    'setup-links acme',
  ).action(setupLinks);
  add(
    'revoke-setup-link <organization> <link>',
    'Take a set-up link back, and what it began; what was set up stays',
    'revoke-setup-link acme 01920000-0000-7000-8000-000000000001',
  ).action(revokeLink);
}

type Work<T> = (queries: Queries, tenant: Tenant, organization: Organization) => Promise<T>;

/** Reads or writes of the organisation of that id or name. @throws CommandFailure */
async function within<T>(administrator: Administrator, options: Options, name: string, how: 'read' | 'write', work: Work<T>): Promise<T> {
  const tenant = await loadTenant(administrator, options);
  return administrator.database[how](tenant.id, async (queries) => {
    const found = await findNamedOrganization(queries, tenant.id, name);
    if (found === undefined)
      throw new CommandFailure(
        `expected an organisation, found none named ${name}. See: gatehouse organization list --tenant ${tenant.slug}`,
      );
    return work(queries, tenant, found);
  });
}

async function invite(name: string, email: string, options: Options): Promise<void> {
  requireEmail(email);
  await administer(options, async (administrator) => {
    const roles = (options['role'] ?? []) as readonly string[]; // as commander reads a list
    const made = await within(administrator, options, name, 'write', (queries, tenant, organization) =>
      inviteToOrganization(
        queries,
        mailing(administrator),
        tenant,
        { organization, email, roles, byMail: options['mail'] === false ? false : undefined, invitedBy: null },
        by,
      ),
    );
    if (!made.ok)
      throw made.reason === 'unknown_role'
        ? usage(`--role: expected roles of organisations, found ${made.role}`)
        : new CommandFailure(refusals[made.reason]);
    const { id, url, isMailed, expiresAtMs } = made;
    administrator.print({ id, email, roles, mailed: isMailed, expires_at: new Date(expiresAtMs).toISOString(), invitation_url: url }, [
      isMailed ? `Mailed to ${email}. The link, should the mail get lost; it opens once:` : 'Hand this link over; it opens once:',
      url,
    ]);
  });
}

const refusals = {
  unknown: 'expected an organisation, found that it is gone',
  no_mail: 'expected a server that can send mail, found none. Use --no-mail',
  full: `expected at most ${openOrganizationInvitationsMax} invitations of an organisation that wait, found as many. Withdraw one: gatehouse organization withdraw-invitation`,
  often: 'expected fewer invitations within a day, found as many as may be sent to the address or in all',
} as const;

async function invitations(name: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const waiting = options['open'] === true;
    const rows = await within(administrator, options, name, 'read', (queries, tenant, { id }) =>
      allPages(
        (after) => listOrganizationInvitations(queries, tenant.id, id, { after, limit: pageRows, waiting }),
        (row) => row.id,
      ),
    );
    const json = rows.map((row) => organizationInvitationToJson(row, administrator.clock.nowMs()));
    administrator.print(
      json,
      table(
        ['ID', 'STATE', 'EMAIL', 'ROLES', 'ENDS'],
        json.map((one) => [
          String(one['id']),
          String(one['state']),
          String(one['email']),
          (one['roles'] as readonly string[]).join(' '),
          String(one['expires_at']),
        ]), // made above
      ),
    );
  });
}

async function withdraw(name: string, invitation: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const done = await within(administrator, options, name, 'write', (queries, tenant, organization) =>
      withdrawOrganizationInvitation(queries, administrator, tenant, { organization: organization.id, id: invitation }, by),
    );
    if (!done)
      throw new CommandFailure(
        `expected an invitation that nobody used, found none: ${invitation}. See: gatehouse organization invitations ${name}`,
      );
    administrator.print({ id: invitation, state: 'revoked' }, 'Withdrawn. The link no longer works.');
  });
}

async function setupLink(name: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const made = await within(administrator, options, name, 'write', (queries, tenant, organization) =>
      makeSetupLink(queries, administrator, tenant, organization, by),
    );
    if (made === 'unknown') throw new CommandFailure(refusals.unknown);
    if (made === 'full')
      throw new CommandFailure(
        `expected at most ${setupLinksPerOrganizationMax} set-up links that work, found as many. Take one back: gatehouse organization revoke-setup-link ${name}`,
      );
    const json = { ...setupLinkToJson(made.link, administrator.clock.nowMs()), setup_url: made.url };
    administrator.print(json, ['Hand this link over; it opens in one browser, for 7 days, and is not shown again:', made.url]);
  });
}

async function setupLinks(name: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const rows = await within(administrator, options, name, 'read', (queries, tenant, { id }) =>
      listSetupLinks(queries, tenant.id, id, linksShown),
    );
    const json = rows.map((row) => setupLinkToJson(row, administrator.clock.nowMs()));
    administrator.print(
      json,
      table(
        ['ID', 'STATE', 'MADE', 'ENDS', 'BY'],
        json.map((one) => ['id', 'state', 'created_at', 'expires_at', 'created_by'].map((field) => String(one[field]))),
      ),
    );
  });
}

async function revokeLink(name: string, link: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const done = await within(administrator, options, name, 'write', (queries, tenant, organization) =>
      takeSetupLinkBack(queries, administrator, tenant, { organization: organization.id, id: link }, by),
    );
    if (!done)
      throw new CommandFailure(
        `expected a set-up link that was not taken back, found none: ${link}. See: gatehouse organization setup-links ${name}`,
      );
    administrator.print({ id: link, state: 'revoked' }, 'Taken back. It opens nothing any more.');
  });
}
