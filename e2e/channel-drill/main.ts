import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { runChannelDrill } from './drill.ts';
import { toChannelScoreCard } from './score.ts';

const HELP = `npm run channel-drill -- [--kills 200] [--messages 1000] [--seed N]

People write to a bot in 20 chats, and the daemon is killed again and again (kill -9): after a random database statement,
while a message is being sent, while it starts, and at any time. Meanwhile connections break, updates come twice, and
messages are refused. At rest, a checker decides from what people wrote, what arrived, and what is stored: no message is
lost or answered twice, no part of an answer arrives twice, and whatever may not have arrived is shown and told.

  --kills N      how often a daemon is killed at work (200)
  --messages N   how many messages people write, about (1000)
  --seed N       chooses what happens; a run prints its own. What real processes do at which moment no seed can choose,
                 so a seed that failed may need some attempts

Ends with 1 when something is wrong; evidence.json and the homes are then where it says.
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    messages: { type: 'string', default: '1000' },
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
  const messages = toWholeNumber('--messages', values.messages);
  const played = await runChannelDrill({ kills, messages, seed, say: (line) => say(`${line}\n`) });
  const { score, violations, folder } = played;
  for (const { rule, what, where } of violations.slice(0, 20)) say(`✖ ${rule}\n  ${what}\n  ${where}\n`);
  say(toChannelScoreCard(score));
  if (violations.length > 0) {
    say(`✖ seed ${seed}: ${violations.length} violations; ${folder}\n`);
    process.exitCode = 1;
  }
}
