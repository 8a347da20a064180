import process from 'node:process';
import { toWholeNumber } from '../../support/whole-number.ts';
import { simulateAll } from '../simulate-all.ts';

// What a killed daemon had open is closed by the garbage collector, which Node reports as an error.
process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
  if (error.code === 'ERR_INVALID_STATE' && error.message.includes('garbage collection')) return;
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

const [seed, count] = process.argv.slice(2);
await simulateAll(
  { seed: toWholeNumber('the first argument', seed ?? ''), count: toWholeNumber('the second argument', count ?? '') },
  (outcome) => process.send?.(outcome),
);
process.disconnect?.();
