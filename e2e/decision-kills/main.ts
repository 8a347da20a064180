import { parseArgs } from 'node:util';
import { toWholeNumber } from '../support/whole-number.ts';
import { killBackgroundAtSteps } from './background-kills.ts';
import { FEATURES, isFeature } from './features/features.ts';
import { killInstallAtSteps } from './install-kills.ts';
import { isInstallation } from './installations.ts';
import { killAtSteps } from './kill-at-steps.ts';
import { killFeatureAtSteps } from './kill-feature.ts';

const HELP = `npm run decision-kills -- [--from 1] [--by 1] [--mode ask]

A question is asked, judged and approved with a rule; its call runs, and the next one runs because of the rule. The daemon
is killed (kill -9) after the first database statement of this, then again after the second one, and so on until it gets to
the end. After each kill another daemon goes on, and the run must end with every call done, one rule and no lost decision.
In the mode auto, there is one call, and the judge answers its question, nobody else. In the mode background, the run starts
a command in the background, reads its output and ends it; no process may be left, and the model must hear of every end.
Further modes do the same for sub-agents (task), a coordinator and its children (spawn), a plan with a revision (plan), a
watch whose result is told (watch), memories (memory), also those that wait for a person (quarantine), and a call of a tool
server (tool). In the modes skill and server, skills of a repository and a tool server of the registry are installed: all of
it must be there, or nothing.

  --from N   the first statement after which it is killed (1)
  --mode M   ask, auto, background, task, spawn, plan, watch, memory, quarantine, tool,
             skill or server (ask)
  --by N     how many statements later the next kill comes (1)
`;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    by: { type: 'string', default: '1' },
    mode: { type: 'string', default: 'ask' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => process.stdout.write(text);

if (values.help) say(HELP);
else {
  const steps = {
    ...{ from: toWholeNumber('--from', values.from), by: toWholeNumber('--by', values.by) },
    say: (line: string) => say(`${line}\n`),
  };
  const { kills, findings } = await killIn(values.mode, steps);
  for (const finding of findings) say(`✖ ${finding}\n`);
  say(`${kills} kills, ${findings.length} findings\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}

function killIn(mode: string, steps: Parameters<typeof killBackgroundAtSteps>[0]) {
  if (isFeature(mode)) return killFeatureAtSteps(FEATURES[mode](), steps);
  if (isInstallation(mode)) return killInstallAtSteps(mode, steps);
  if (mode === 'background') return killBackgroundAtSteps(steps);
  if (mode === 'ask' || mode === 'auto') return killAtSteps({ ...steps, mode });
  throw new Error(`There is no mode ${mode}. See --help.`);
}
