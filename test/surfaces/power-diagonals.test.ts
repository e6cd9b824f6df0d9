// The rest of power-pairs.test.ts, which says what it proves.
import { describe } from 'node:test';
import { diagonals, nobodyGrowsWithout } from '../support/power-lines.ts';

describe('the graph of power, several capabilities, diagonals', () => nobodyGrowsWithout(diagonals));
