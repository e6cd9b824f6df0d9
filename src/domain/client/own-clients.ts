// The ids of our own applications as clients of a tenant. Fixed, unlike those of other clients.
import type { ClientId } from '../ids.ts';

/** The console: what is broken is repaired there, so no hook stands before it. */
export const consoleClientId = 'gatehouse-console' as ClientId; // a fixed id of ours
