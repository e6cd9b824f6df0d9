// How values of PostgreSQL come into JavaScript.
import pg from 'pg';

const int8Oid = 20;
const numericOid = 1700;
export const serverTypes = new pg.TypeOverrides();
// Epoch milliseconds and counts stay far below 2^53.
serverTypes.setTypeParser(int8Oid, (text: string) => Number(text));
serverTypes.setTypeParser(numericOid, (text: string) => Number(text));
