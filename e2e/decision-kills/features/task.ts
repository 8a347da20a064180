import { effectCommand } from '../../checker/recording/effects-file.ts';
import { workersOf } from '../../checker/workers.ts';
import { callTools, say } from '../../support/model/scripted-steps.ts';
import type { Feature, Left } from '../kill-feature.ts';

const FILE = 'tasks.txt';

/** Two sub-agents, each with a command; one of them gives a part of its task to a third one. */
export const TASKS: Feature = {
  message: 'hand over',
  effectsFile: FILE,
  answer({ messages }, tag) {
    const [system, first] = messages;
    const isSubAgent = String(system?.content).includes('You are a sub-agent');
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (!isSubAgent) {
      if (results > 0) return say('All parts are done.');
      return callTools(task('left', tag, 'call_left'), task('right', tag, 'call_right'));
    }
    const [, part = ''] = /part (\w+) of/.exec(String(first?.content)) ?? [];
    if (results > 0) return say(`The part ${part} is done.`);
    const command = effectCommand({ tag: `${tag}-${part}`, file: FILE, secs: 0 });
    const bash = { name: 'bash', id: `call_${part}`, arguments: { command } };
    return part === 'left' ? callTools(bash, task('below', tag, 'call_below')) : callTools(bash);
  },
  findings({ tag, workstream, effects }: Left): string[] {
    const { agents } = workstream;
    const found = new Set(agents.map(({ state }) => `${state.title} ${state.outcome}`));
    const calls = workersOf(workstream).flatMap(({ results }) => results.map(({ outcome }) => outcome));
    const wrong = ['left', 'right', 'below'].flatMap((part) => {
      const ran = effects.filter((effect) => effect.tag === `${tag}-${part}` && effect.phase === 'begin').length;
      const starts = workersOf(workstream)
        .filter(({ agent }) => agent?.state.title === part)
        .flatMap(({ journal }) =>
          journal.filter((entry) => entry.kind === 'tool_started' && !entry.safeToRepeat),
        ).length;
      return ran >= 1 && ran <= starts ? [] : [`the command of ${part} ran ${ran} times, started ${starts} times`];
    });
    return [
      ...(agents.length === 3 && DONE.every((one) => found.has(one)) ? [] : [`sub-agents: ${[...found].join()}`]),
      ...(calls.every((outcome) => outcome === 'done') && calls.length === 6 ? [] : [`results: ${calls.join()}`]),
      ...wrong,
    ];
  },
};

const DONE = ['left done', 'right done', 'below done'];

const task = (part: string, tag: string, id: string) => ({
  ...{ name: 'task', id },
  arguments: { title: part, prompt: `Do part ${part} of ${tag}` },
});
