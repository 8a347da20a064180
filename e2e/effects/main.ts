import { parseArgs } from 'node:util';
import { givenCommands } from './given-commands.ts';
import { runOracle } from './oracle.ts';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
});
const { ran, known, misses } = await runOracle({
  given: givenCommands(),
  count: Number(values.count),
  seed: Number(values.seed),
});
const MOST_SHOWN = 40;
for (const { command, what, target } of misses.slice(0, MOST_SHOWN)) say(`${what} ${target}\n    ${command}`);
say(`${ran} commands ran, ${known} of them known completely: ${misses.length} misses`);
process.exitCode = misses.length === 0 ? 0 : 1;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
