import process from 'node:process';
import { toWholeNumber } from '../../support/whole-number.ts';
import { simulateAll } from '../simulate-all.ts';

const [seed, count] = process.argv.slice(2);
await simulateAll(
  { seed: toWholeNumber('the first argument', seed ?? ''), count: toWholeNumber('the second argument', count ?? '') },
  (outcome) => process.send?.(outcome),
);
process.disconnect?.();
