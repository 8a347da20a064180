import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { runLinear } from './drill.ts';

const HELP = `npm run linear -- [--rounds 300] [--seed N] [--store sqlite]

In each round, clients over WebSocket and HTTP send messages, decide approvals, cancel, repeat calls with their keys, and
read, all at once in two workstreams, while the daemon is killed (kill -9) and started again. With --store postgres, the
database server is killed instead in some rounds. With --store workers, the workstreams are with a worker, which is killed
and started again, at once or after the active daemon has taken over. Then an order of all calls is looked for that explains every answer, each
call taking effect at one moment between its call and its answer; a call whose answer was lost took effect later, or never.
A workstream in which too many calls were under way at once to search all orders counts as "undecided".

  --rounds N   how many rounds are played (300)
  --seed N     chooses what happens; a run prints its own
  --store S    sqlite, postgres or workers (sqlite)

Ends with 1 when there is no such order.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const { store } = values;
  if (store !== 'sqlite' && store !== 'postgres' && store !== 'workers')
    throw new Error('--store must be sqlite, postgres or workers');
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : toWholeNumber('--seed', values.seed);
  say(`seed ${seed}\n`);
  const { findings, tally } = await runLinear({
    rounds: toWholeNumber('--rounds', values.rounds),
    seed,
    store,
    say: (line) => say(`${line}\n`),
  });
  for (const { wsId, what, lines } of findings) say(`✖ ${wsId}, ${what}\n  ${lines.join('\n  ')}\n`);
  say(`${JSON.stringify(tally, undefined, 2)}\n`);
  if (findings.length > 0) {
    say(`✖ seed ${seed}\n`);
    process.exitCode = 1;
  }
}
