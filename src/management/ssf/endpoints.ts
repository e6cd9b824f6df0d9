// The list of endpoints of a transmitter of security events.
import type { Endpoint } from '../endpoint.ts';
import { pollEndpoints } from './poll.ts';
import { streamStatusEndpoints } from './stream-status.ts';
import { streamEndpoints } from './streams.ts';
import { subjectEndpoints } from './subjects.ts';

export const ssfEndpoints: readonly Endpoint[] = [...streamEndpoints, ...streamStatusEndpoints, ...subjectEndpoints, ...pollEndpoints];
