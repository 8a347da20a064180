import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { runClusterDrill } from './drill.ts';
import { toClusterScoreCard } from './score.ts';

const HELP = `npm run drill:cluster -- [--rounds 300] [--seed N] [--only WORDS] [--namespaces]

Four daemons over one PostgreSQL database and one NATS server: one is active, one is a standby that forwards, and two are
workers. Clients of four workstreams use any of them, and go to another one with their cursors and keys. In each round, one
or two things fail: a daemon is killed, stopped, drained or paused; sessions of the database are ended or paused; the
database or the bus is killed or restarted; connections between daemons, with the database, or with the bus are cut, silent
or slow. Meanwhile workstreams move, and in half of the chapters, of ten rounds at most, the clock of each machine is wrong by
up to two hours. Afterwards, clients have to get on at each daemon and in each workstream. After every round, a checker decides from
all that was seen, from the database, and from what the database recorded about each write, whether a promise was broken.

  --rounds N    how often something fails (300)
  --seed N      chooses what happens; a run prints its own. What real processes do at which moment no seed can choose,
                so a seed that failed may need some attempts
  --only WORDS  only faults whose name contains these words, such as "worker" or "freeze active"
  --namespaces  each daemon has a network of its own (Linux, as root, with iproute2 and nftables), and the kernel drops,
                refuses or slows its packets, in place of a proxy

If a promise was broken, it ends with 1, and evidence.json is beside the homes of the daemons.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '300' },
    seed: { type: 'string' },
    only: { type: 'string' },
    namespaces: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : toWholeNumber('--seed', values.seed);
  say(`seed ${seed}\n`);
  const { score, violations, folder } = await runClusterDrill({
    rounds: toWholeNumber('--rounds', values.rounds),
    seed,
    only: values.only,
    hasNamespaces: values.namespaces,
    say: (line) => say(`${line}\n`),
  });
  for (const { rule, what, where } of violations.slice(0, 20)) say(`✖ ${rule}\n  ${what}\n  ${where}\n`);
  say(toClusterScoreCard(score));
  if (violations.length > 0) {
    say(`✖ seed ${seed}, round ${score.rounds}; ${folder}\n`);
    process.exitCode = 1;
  }
}
