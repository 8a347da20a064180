import process from 'node:process';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { checkCron } from './check.ts';
import { simulate, USUAL_REST_MS } from './simulate.ts';

const HELP = `npm run cron-simulation -- [--days 30] [--seed 1] [--seeds 6] [--jobs 10]

Schedulers live through weeks of kills, leaps of the clock, sleep and changes of mind on a clock that is moved by hand; a
checker that shares no code with them decides whether they kept their word. Even seeds have three schedulers over one store.

  --days N       how long (30)
  --seed N       the first seed (1); one that fails fails again
  --seeds N      how many (6)
  --jobs N       of each (10)

Ends with 1 when something is wrong.
`;

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '6' },
    jobs: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
});

/** The number of findings of each rule. */
const SHOWN = 5;

const say = (line: string) => void process.stdout.write(`${line}\n`);

if (values.help) process.stdout.write(HELP);
else {
  const first = toWholeNumber('--seed', values.seed);
  const seeds = toWholeNumber('--seeds', values.seeds);
  const [days, jobs] = [toWholeNumber('--days', values.days), toWholeNumber('--jobs', values.jobs)];
  for (let seed = first; seed < first + seeds; seed += 1) await live({ seed, days, jobs });
}

async function live({ seed, days, jobs }: { seed: number; days: number; jobs: number }): Promise<void> {
  const schedulers = seed % 2 === 1 ? 1 : 3;
  const begunMs = performance.now();
  const evidence = await simulate({ seed, days, schedulers, jobs, restMs: USUAL_REST_MS }).catch((error: unknown) => {
    throw new Error(`seed ${seed} could not be simulated to the end`, { cause: error });
  });
  const violations = checkCron(evidence);
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
  const { occurrences, runs, lives, wallSteps } = evidence;
  const counts = `${occurrences.length} records, ${runs.length} starts, ${lives.length} processes, ${wallSteps.length - 1} leaps`;
  say(`${violations.length === 0 ? '✔' : '✖'} seed ${seed}, ${schedulers} over one store: ${counts} (${seconds} s)`);
  for (const [rule, broken] of Map.groupBy(violations, (violation) => violation.rule)) {
    say(`  ${rule}: ${broken.length} times not`);
    for (const { jobId, what } of broken.slice(0, SHOWN)) say(`    ${jobId}: ${what}`);
  }
  if (violations.length > 0) process.exitCode = 1;
}
