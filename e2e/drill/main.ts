import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { runDrill } from './drill.ts';
import { toScoreCard } from './score.ts';

const HELP = `npm run drill -- [--rounds 300] [--seed N] [--home FOLDER] [--no-sandbox] [--store sqlite]

Kills a daemon again and again (kill -9, also while it starts) while eight workstreams (two of them coordinators) stream, ask, decide, cancel and
run commands, and while readers are cut off at random bytes and go on. After every round a checker decides from all
that was seen and from the database whether a promise was broken. Before the first round, a rehearsal does once what
happens only by chance: a sub-agent, a plan, a watch, a memory, a steered message, a retry, a rewind, a summary, used-up
budgets, a kill during a command.

  --rounds N     how often it is killed at work (300)
  --seed N       chooses what happens; a run prints its own. What real processes do at which moment no seed can choose,
                 so a seed that failed may need some attempts
  --home FOLDER  where the daemon keeps its things; default: a temporary one, which stays if something is wrong
  --store S      sqlite or postgres (sqlite). With postgres, the server of the database is killed in half of the rounds, too
  --no-sandbox   commands run without bubblewrap; otherwise in every second ten rounds

Ends with 1 when something is wrong. The evidence is then in evidence.json beside the home.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string' },
    home: { type: 'string' },
    sandbox: { type: 'boolean', default: true },
    store: { type: 'string', default: 'sqlite' },
    help: { type: 'boolean', default: false },
  },
  allowNegative: true,
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const { store } = values;
  if (store !== 'sqlite' && store !== 'postgres') throw new Error('--store must be sqlite or postgres');
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : toWholeNumber('--seed', values.seed);
  say(`seed ${seed}\n`);
  const { score, violations, home } = await runDrill({
    rounds: toWholeNumber('--rounds', values.rounds),
    seed,
    ...(values.home !== undefined && { home: values.home }),
    sandbox: values.sandbox,
    store,
    say: (line) => say(`${line}\n`),
  });
  for (const { rule, what, where } of violations.slice(0, 20)) say(`✖ ${rule}\n  ${what}\n  ${where}\n`);
  say(toScoreCard(score));
  if (violations.length > 0) {
    say(`✖ seed ${seed}; the home is ${home}\n`);
    process.exitCode = 1;
  }
}
