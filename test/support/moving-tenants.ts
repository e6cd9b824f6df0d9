// Tenants of two groups that `gatehouse tenant move` takes from one to the other, as processes, and where they are served.
import assert from 'node:assert/strict';
import { untilStatus } from './command-line.ts';
import type { DatabaseName } from './databases.ts';
import type { GatehouseProcess } from './gatehouse-process.ts';
import { createTestTenant, createTestUser, type Managed } from './management.ts';
import { listedAt, openTwoGroups, type TwoGroups } from './two-groups.ts';

export interface MovingWorld {
  readonly groups: TwoGroups;
  readonly newTenant: (people?: number) => Promise<Managed>;
  /** Starts the move of a tenant to the watched group. */
  readonly moving: (slug: string, ...more: readonly string[]) => GatehouseProcess;
  /** Served where it came from, and nowhere else. */
  readonly assertAtOrigin: (tenant: Managed) => Promise<void>;
  readonly assertMoved: (tenant: Managed) => Promise<void>;
}

const systemClock = { nowMs: () => Date.now(), advance: async () => undefined };
const longText = 'x'.repeat(480);
const peopleAtOnce = 20;

export async function openMovingWorld(from: DatabaseName, to: DatabaseName): Promise<MovingWorld> {
  const groups = await openTwoGroups(from, to);
  let count = 0;
  return {
    groups,
    newTenant: async (people = 3) => {
      count += 1;
      const tenant = await createTestTenant({ url: groups.router.url, clock: systemClock }, { slug: `acme${count}` });
      const name = { given_name: longText, family_name: longText, middle_name: longText };
      const fields = { display_name: longText, nick_name: longText, title: longText, name };
      for (let made = 0; made < people; made += peopleAtOnce)
        await Promise.all(
          Array.from({ length: Math.min(peopleAtOnce, people - made) }, (_, index) =>
            createTestUser(tenant, `p${made + index}@acme.example`, fields),
          ),
        );
      return tenant;
    },
    moving: (slug, ...more) => groups.source.start('tenant', 'move', slug, '--to', groups.watched.url, ...more),
    assertAtOrigin: async ({ slug }) => {
      await untilStatus(() => fetch(`${groups.source.url}/t/${slug}/v1/idp/oidc/jwks`), 200);
      await untilStatus(() => fetch(`${groups.target.url}/t/${slug}/v1/idp/oidc/jwks`), 404);
      assert.equal((await listedAt(groups.source)).get(slug)?.['moving'], null);
      assert.equal((await listedAt(groups.target)).has(slug), false);
    },
    assertMoved: async ({ slug }) => {
      await untilStatus(() => fetch(`${groups.target.url}/t/${slug}/v1/idp/oidc/jwks`), 200);
      await untilStatus(() => fetch(`${groups.source.url}/t/${slug}/v1/idp/oidc/jwks`), 503);
    },
  };
}
