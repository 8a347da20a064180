import process from 'node:process';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { playBatches } from './batches/play-batches.ts';
import type { Outcome } from './simulate.ts';

const HELP = `npm run conversations -- [--count 10000] [--seed 1]

Random conversations over all wires, with servers that validate every request as their makers do. Every request must be
accepted, and must extend the last one byte for byte. After a cut, it must keep everything that the cut does not name.

  --count N      how many (10000)
  --seed N       the first seed (1); one that fails fails again

Every 250 have a process of their own, one per processor at once. Ends with 1 when something is wrong.
`;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const TOLD_EVERY = 500;

const say = (line: string) => void process.stdout.write(`${line}\n`);

if (values.help) process.stdout.write(HELP);
else await runAll(toWholeNumber('--seed', values.seed), toWholeNumber('--count', values.count));

async function runAll(first: number, count: number): Promise<void> {
  const begunMs = performance.now();
  const wires: Record<string, number> = {};
  let [played, requests, besides, children, steps, bad] = [0, 0, 0, 0, 0, 0];
  const lost = await playBatches({ seed: first, count }, (outcome) => {
    played += 1;
    if (played % TOLD_EVERY === 0) say(`  ${played} played, ${requests} requests, ${bad} with violations`);
    requests += outcome.requests;
    besides += outcome.besides;
    children += outcome.children;
    steps += outcome.steps.length;
    for (const [wire, asked] of Object.entries(outcome.wires)) wires[wire] = (wires[wire] ?? 0) + asked;
    if (outcome.violations.length === 0) return;
    bad += 1;
    report(outcome);
  });
  const seconds = (performance.now() - begunMs) / 1000;
  const asked = Object.entries(wires).map(([wire, number]) => `${wire} ${number}`);
  if (lost.length > 0) say(`✖ these never ended, or their process failed: ${lost.join(', ')}`);
  say(
    `${bad + lost.length === 0 ? '✔' : '✖'} ${played} conversations, ${steps} steps, ${requests} requests (${asked.join(', ')}), ${besides} of sub-agents and planners, ${children} of children of coordinators`,
  );
  say(`  ${bad} with violations; ${Math.round((count / seconds) * 60)} conversations a minute`);
  if (bad > 0 || lost.length > 0) process.exitCode = 1;
}

function report({ seed, steps, violations }: Outcome): void {
  say(`✖ seed ${seed}: ${steps.map((step, index) => `${index + 1} ${step}`).join(', ')}`);
  for (const { step, doing, what } of violations.slice(0, 5)) say(`    step ${step}, ${doing}: ${what}`);
}
