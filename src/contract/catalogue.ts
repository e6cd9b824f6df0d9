// The whole error contract in one object. Everything that enumerates rows (docs, CLI, coverage check) reads this.
import { deviceRows } from './device.ts';
import { managementRows } from './management.ts';
import { oidcRows } from './oidc.ts';
import type { Row } from './row.ts';
import { samlRows } from './saml.ts';
import { scimRows } from './scim.ts';
import { httpRows, type SharedRowId, sharedRows } from './shared.ts';

const ownRows = { ...oidcRows, ...samlRows, ...scimRows, ...deviceRows, ...managementRows, ...httpRows };

export type RowId = keyof typeof ownRows | SharedRowId;

/** Row ids whose answers are identical by construction: their throw sites cannot add text. */
export type OpaqueRowId =
  | { [Id in keyof typeof ownRows]: (typeof ownRows)[Id]['opaque'] extends true ? Id : never }[keyof typeof ownRows]
  | SharedRowId;
export type DetailedRowId = Exclude<RowId, OpaqueRowId>;

export const catalogue: Readonly<Record<RowId, Row>> = { ...ownRows, ...sharedRows };
