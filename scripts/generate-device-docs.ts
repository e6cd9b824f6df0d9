// Writes the tables of docs/device-protocol.md that are made from src/device/protocol/: calls and refusals.
import { readFileSync, writeFileSync } from 'node:fs';
import { callsTable, refusalsTable } from '../src/device/protocol/tables.ts';

const file = 'docs/device-protocol.md';
const made = [callsTable(), refusalsTable()].reduce(
  (text, table) => {
    const start = text.indexOf(table.split('\n', 1)[0]!);
    if (start === -1) throw new Error(`${file}: expected a table that begins ${table.split('\n', 1)[0]}, found none`);
    const end = text.indexOf('\n\n', start);
    return `${text.slice(0, start)}${table}${end === -1 ? '\n' : text.slice(end)}`;
  },
  readFileSync(file, 'utf8'),
);
writeFileSync(file, made);
