// A tenant on its way to another deployment (design 11, part 8): closed meanwhile, and its deliveries held. On PostgreSQL whoever
// writes to a tenant enters it first: a mover waits for those inside, and from its commit nobody enters.
import { closedTenantCode, tenantLockClass } from '../../../tenant-closed.ts';
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function tenantMoves(context: MigrationContext): Promise<void> {
  await addColumn(context, 'tenants', 'moving', 'text?');
  await createTable(context, 'held_deliveries', {
    columns: { tenant_id: 'text', id: 'text', queue: 'text', delivery: 'text' },
    primaryKey: ['tenant_id', 'id'],
  });
  if (context.dialect === 'sqlite') return;
  await context.execute(`CREATE FUNCTION gatehouse_enter(entered text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(${tenantLockClass}, hashtext(entered));
      IF EXISTS (SELECT FROM tenants WHERE tenant_id = entered AND moving IS NOT NULL) THEN
        RAISE EXCEPTION 'the tenant is closed' USING ERRCODE = '${closedTenantCode}';
      END IF;
    END $$`);
}
