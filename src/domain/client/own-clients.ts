// The ids of our own applications as clients of a tenant. Fixed, unlike those of other clients.
import type { ClientId } from '../ids.ts';

/** The console: what is broken is repaired there, so no hook stands before it. */
export const consoleClientId = 'gatehouse-console' as ClientId; // a fixed id of ours
/** The account page. */
export const accountClientId = 'gatehouse-account' as ClientId; // a fixed id of ours

/** What the ids of our own pages begin with. */
export const ownClientPrefix = 'gatehouse-';

/** True for the clients that our own pages (console, account page, tester) are: shown, and never changed or deleted by anybody. */
export const isOwnClient = ({ clientId }: { readonly clientId: string }): boolean => clientId.startsWith(ownClientPrefix);
