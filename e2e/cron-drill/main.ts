import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { runCronDrill } from './drill.ts';
import { toCronScoreCard } from './score.ts';

const HELP = `npm run cron-drill -- [--kills 200] [--seed N]

Kills a daemon again and again (kill -9, also while it starts) around the instants at which its scheduled jobs are due:
before an occurrence has its row, between the row and the start, and while a turn or its command runs. After the last
restart a checker decides from the ledger, the runs, the messages and what the commands wrote whether every instant has
one row with one end, nothing was begun twice, and nothing came late.

  --kills N      how often a daemon is killed at work (200)
  --seed N       chooses what happens; a run prints its own. What real processes do at which moment no seed can choose,
                 so a seed that failed may need some attempts

Ends with 1 when something is wrong; evidence.json and the homes are then where it says.
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const seed = values.seed === undefined ? randomInt(1, 1_000_000) : toWholeNumber('--seed', values.seed);
  say(`seed ${seed}\n`);
  const kills = toWholeNumber('--kills', values.kills);
  const { score, violations, folder } = await runCronDrill({ kills, seed, say: (line) => say(`${line}\n`) });
  for (const { rule, what, where } of violations.slice(0, 20)) say(`✖ ${rule}\n  ${what}\n  ${where}\n`);
  say(toCronScoreCard(score));
  if (violations.length > 0) {
    say(`✖ seed ${seed}: ${violations.length} violations; ${folder}\n`);
    process.exitCode = 1;
  }
}
