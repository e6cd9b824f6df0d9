// Whether anything waits to be done beside requests: asked with the pulse of the configuration, so that an idle node asks for nothing else.
import { sql } from 'kysely';
import { deliveriesDue } from './deliveries.ts';
import { areDirectoriesDue } from './registry/extending/ldap-directories.ts';

/** 1 when a delivery, or a run of a directory, is due, else 0. */
export const workDue = sql<number>`CASE WHEN ${areDirectoriesDue} THEN 1 ELSE ${deliveriesDue} END`;
