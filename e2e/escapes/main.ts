import { parseArgs } from 'node:util';
import { openArena } from './arena.ts';
import { type Contender, openHeadgate, openSandboxRuntime } from './contenders.ts';
import { ESCAPES } from './rows.ts';
import { type EscapeResult, runEscapes } from './run-escapes.ts';

// `npm run escapes`: tries every way out of the sandbox. `--beside FOLDER`: also out of sandbox-runtime, installed there.
const { values } = parseArgs({
  options: { beside: { type: 'string' }, json: { type: 'boolean' }, only: { type: 'string' } },
});
await using arena = await openArena();
const contenders: Contender[] = [await openHeadgate(arena)];
if (values.beside !== undefined) contenders.push(await openSandboxRuntime(arena, values.beside));
const rows = ESCAPES.filter(
  ({ name, category }) => values.only === undefined || `${category}: ${name}`.includes(values.only),
);
const results: EscapeResult[] = [];
for (const contender of contenders) results.push(...(await runEscapes(arena, contender, rows)));
if (values.json === true) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
else printTable();
const passed = results.filter(({ contender, escapes }) => contender === 'headgate' && escapes.length > 0);
process.exitCode = passed.length === 0 ? 0 : 1;

function printTable(): void {
  for (const { name, category } of rows) {
    const cells = contenders.map((contender) => {
      const result = results.find(
        (one) => one.contender === contender.name && one.name === name && one.category === category,
      );
      return result === undefined ? '' : result.escapes.length === 0 ? 'held' : `OUT: ${result.escapes.join(', ')}`;
    });
    process.stdout.write(`${category.padEnd(16)}${name.padEnd(52)}${cells.map((cell) => cell.padEnd(8)).join('  ')}\n`);
  }
  for (const { name } of contenders) {
    const own = results.filter(({ contender }) => contender === name);
    const out = own.filter(({ escapes }) => escapes.length > 0).length;
    const medianMs = own.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)[Math.floor(own.length / 2)] ?? 0;
    process.stdout.write(`${name}: ${out} of ${own.length} ways out work; a command takes ${medianMs} ms (median)\n`);
  }
}
