import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { undoRandomTurns } from './undo-trees.ts';

const HELP = `npm run undo-trees -- [--turns 200] [--seed N]

Random turns change files: contents, permissions, links, folders, names. Each is taken back, and half of them are brought
back. The daemon is killed (kill -9) at random moments of two thirds of the turns, undos and redos. After each step all files
must be as before the turn, or as after it, except those that Git ignores.

  --turns N   how many turns (200)
  --seed N    the changes of an earlier run; the moments of the kills are not the same
`;

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const seed = toWholeNumber('--seed', values.seed);
  say(`seed ${seed}\n`);
  const { turns, kills, undone, findings } = await undoRandomTurns({
    turns: toWholeNumber('--turns', values.turns),
    seed,
    say: (line) => say(`${line}\n`),
  });
  for (const finding of findings) say(`✖ ${finding}\n`);
  say(`${turns} turns, ${undone} taken back, ${kills} kills, ${findings.length} findings\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
