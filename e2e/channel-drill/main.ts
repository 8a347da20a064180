import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { ALL_PLAYS, runChannelDrill } from './drill.ts';
import { toChannelScoreCard } from './score.ts';

const HELP = `npm run channel-drill -- [--kills 200] [--messages 1000] [--seed N] [--only once|retry]

People write to a bot in 20 chats, and the daemon is killed again and again (kill -9): after a random database statement,
while a message is being sent, while it starts, and at any time. Meanwhile connections break, updates come twice, and
messages are refused. In two of three chapters, the agent asks, and people press the buttons: approvers and others, twice, and
too late; some answers are shown in progress. One of three chapters has the policy \`retry\`. At rest, a checker decides from what people wrote, what arrived, and what is stored: no message is
lost or answered twice, no part of an answer arrives twice, whatever may not have arrived is shown and told, and each question has one
decision of somebody who may decide.

  --kills N      how often a daemon is killed at work (200)
  --messages N   how many messages people write, about (1000)
  --only POLICY  only chapters with buttons and this policy
  --seed N       chooses what happens; a run prints its own. What real processes do at which moment no seed can choose,
                 so a seed that failed may need some attempts

Ends with 1 when something is wrong; evidence.json and the homes are then where it says.
`;

function playsOf(only: string | undefined) {
  const plays = only === undefined ? ALL_PLAYS : ALL_PLAYS.filter((play) => play.decides && play.ambiguous === only);
  if (plays.length === 0) throw new Error('--only is once or retry');
  return plays;
}

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    messages: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    only: { type: 'string' },
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
  const played = await runChannelDrill({
    kills,
    messages,
    seed,
    plays: playsOf(values.only),
    say: (line) => say(`${line}\n`),
  });
  const { score, violations, folder } = played;
  for (const { rule, what, where } of violations.slice(0, 20)) say(`✖ ${rule}\n  ${what}\n  ${where}\n`);
  say(toChannelScoreCard(score));
  if (violations.length > 0) {
    say(`✖ seed ${seed}: ${violations.length} violations; ${folder}\n`);
    process.exitCode = 1;
  }
}
