import os from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { toWholeNumber } from '../support/whole-number.ts';
import { type Comparison, compare, compareOffsets, type Stretch, toSubject, toSubjectOfCroner } from './compare.ts';
import { drawExpressions } from './expressions.ts';
import { readZones, stretchesAroundChanges, stretchesOfDays, withoutTwins } from './stretches.ts';

const SEED = 2020;
const DAYS = 100;
const CHUNK = 10;
const SHOWN_DIFFERENCES = 20;

const HELP = `npm run cron-oracle -- [--expressions 300] [--every-zone] [--croner]

Holds the schedules against an independent search through local minutes: two days around every change of the offset of every
zone from 2020 to 2040 and 100 drawn days. Takes half an hour of each of two cores.

  --expressions N   so many, drawn from a fixed seed (300)
  --every-zone      also zones that had the same offsets as one before
  --croner          asks croner with its own rule instead of the product

Ends with a verdict, and with 1 if anything differs.
`;

const { values: options } = parseArgs({
  options: {
    'every-zone': { type: 'boolean', default: false },
    croner: { type: 'boolean', default: false },
    expressions: { type: 'string', default: '300' },
    help: { type: 'boolean', default: false },
  },
});
const EXPRESSIONS = toWholeNumber('--expressions', options.expressions);

if (options.help) process.stdout.write(HELP);
else if (isMainThread) process.exitCode = await main();
else work();

async function main(): Promise<number> {
  const startMs = performance.now();
  os.setPriority(5);
  const tables = readZones(Intl.supportedValuesOf('timeZone'));
  const changes = stretchesAroundChanges(tables);
  const days = stretchesOfDays(tables, DAYS, SEED);
  const offsets = [...changes, ...days].flatMap(({ table, aroundMs }) => compareOffsets(table, aroundMs));
  say(`${tables.length} zones, ${changes.length} changes; offsets that differ: ${offsets.length}`);

  const all = [...changes, ...days];
  const stretches = options['every-zone'] ? all : withoutTwins(all);
  const total = { occurrences: 0, questions: 0, differences: offsets };
  let done = 0;
  const tell = progressLine(() => {
    const { occurrences, differences } = total;
    return `${done} of ${stretches.length} stretches, ${occurrences} occurrences, ${differences.length} differences`;
  });
  await shareOut(stretches, (result, count) => {
    done += count;
    total.occurrences += result.occurrences;
    total.questions += result.questions;
    total.differences.push(...result.differences);
    tell();
  });

  for (const difference of total.differences.slice(0, SHOWN_DIFFERENCES)) say(`✖ ${difference}`);
  const mark = total.differences.length === 0 ? '✔' : '✖';
  const seconds = Math.round((performance.now() - startMs) / 1000);
  say(
    `${mark} ${total.differences.length} differences: ${EXPRESSIONS} expressions over ${stretches.length} stretches (of ` +
      `${all.length} in ${tables.length} zones), ${total.occurrences} occurrences and ${total.questions} questions, ${seconds} s`,
  );
  return total.differences.length === 0 ? 0 : 1;
}

/** Distributes the periods to one worker per core, in batches. */
async function shareOut(stretches: readonly Stretch[], onDone: (result: Comparison, count: number) => void) {
  let next = 0;
  const runWorker = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
      const give = () => {
        const chunk = stretches.slice(next, next + CHUNK);
        next += CHUNK;
        worker.postMessage(chunk);
        return chunk.length;
      };
      let given = give();
      worker.on('message', (result: Comparison) => {
        onDone(result, given);
        given = give();
      });
      worker.on('error', reject).on('exit', (code) => {
        if (given === 0) resolve();
        else reject(new Error(`a worker ended with ${code} before it had compared its stretches`));
      });
    });
  await Promise.all(Array.from({ length: os.availableParallelism() }, runWorker));
}

/** Compares batches until there are no more. */
function work(): void {
  const subjects = drawExpressions(EXPRESSIONS, SEED).map(options.croner ? toSubjectOfCroner : toSubject);
  parentPort?.on('message', (chunk: Stretch[]) => {
    if (chunk.length === 0) parentPort?.close();
    else parentPort?.postMessage(sumUp(chunk.map((stretch) => compare(stretch, subjects))));
  });
}

function sumUp(results: readonly Comparison[]): Comparison {
  return {
    occurrences: results.reduce((sum, { occurrences }) => sum + occurrences, 0),
    questions: results.reduce((sum, { questions }) => sum + questions, 0),
    differences: results.flatMap(({ differences }) => differences),
  };
}

/** Prints `text()` at most every five seconds. */
function progressLine(text: () => string): () => void {
  let toldMs = performance.now();
  return () => {
    if (performance.now() - toldMs < 5_000) return;
    toldMs = performance.now();
    say(text());
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
