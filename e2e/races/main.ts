import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { runRaces } from './races.ts';

const HELP = `npm run races -- [--rounds 5000] [--seed N]

In each round the agent asks, and then up to five clients decide in different ways, one cancels, a rule is made, the
judge answers and the time runs out, in any order. Every client must be told of one end, the same one and within a second;
the call must have run if and only if it was allowed to, and the database must agree.

  --rounds N   how many questions are asked (5000)
  --seed N     chooses what happens; a run prints its own

Ends with 1 when something is wrong.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5000' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : toWholeNumber('--seed', values.seed);
  say(`seed ${seed}\n`);
  const { findings, tally } = await runRaces({
    rounds: toWholeNumber('--rounds', values.rounds),
    seed,
    say: (line) => say(`${line}\n`),
  });
  for (const finding of findings.slice(0, 20)) say(`✖ ${finding}\n`);
  say(`${JSON.stringify(tally, undefined, 2)}\n`);
  if (findings.length > 0) {
    say(`✖ seed ${seed}\n`);
    process.exitCode = 1;
  }
}
