import { effectCommand } from '../../checker/recording/effects-file.ts';
import { callTools, say } from '../../support/model/scripted-steps.ts';
import type { Feature, Left } from '../kill-feature.ts';

const FILE = 'spawned.txt';

/** A coordinator has two children made, writes to one, waits for both, and closes one and then all. Each child has a command. */
export const SPAWNS: Feature = {
  message: 'lead',
  effectsFile: FILE,
  isLead: true,
  answer({ messages }, tag) {
    const asked = messages.filter(({ role, content }) => role === 'user' && /^(part|more) /.test(String(content)));
    const part = /^part (\w+)/.exec(String(asked[0]?.content))?.[1];
    return part === undefined ? lead(messages, tag) : work(messages, { part, tag, asked: asked.length });
  },
  findings,
};

type Messages = Parameters<Feature['answer']>[0]['messages'];

const resultsIn = (messages: Messages): string[] =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));

function lead(messages: Messages, tag: string) {
  const results = resultsIn(messages);
  if (results.length === 0) {
    const workstreams = ['left', 'right'].map((part) => ({
      name: `${part}-${tag}`,
      message: `part ${part} of ${tag}`,
    }));
    return callTools({ name: 'spawn_batch', id: 'call_spawn', arguments: { workstreams } });
  }
  const made: { ws_id: string }[] = JSON.parse(results[0] ?? '[]');
  const [left, right] = made.map(({ ws_id }) => ws_id);
  const steps = [
    callTools({ name: 'send_to_workstream', id: 'call_send', arguments: { ws_id: left, message: `more for ${tag}` } }),
    callTools({
      name: 'wait_for_workstream',
      id: 'call_wait',
      arguments: { ws_ids: [left, right], timeout_secs: 600 },
    }),
    callTools({ name: 'close_workstream', id: 'call_close', arguments: { ws_ids: [right] } }),
    callTools({ name: 'close_all_children', id: 'call_all', arguments: {} }),
  ];
  return steps[results.length - 1] ?? say('All parts are done.');
}

/** One command for the first message, and words for another one. */
function work(messages: Messages, { part, tag, asked }: { part: string; tag: string; asked: number }) {
  const isRun = resultsIn(messages).length > 0;
  if (isRun) return say(asked > 1 ? `More of ${part} is done.` : `The part ${part} is done.`);
  const command = effectCommand({ tag: `${tag}-${part}`, file: FILE, secs: 0 });
  return callTools({ name: 'bash', id: `call_${part}`, arguments: { command } });
}

function findings({ tag, workstream, children, effects }: Left): string[] {
  const outcomes = workstream.messages.flatMap(({ message }) => (message.role === 'tool' ? [message.outcome] : []));
  const told = children.map(({ messages }) =>
    messages.flatMap(({ message }) =>
      message.role === 'user' && !message.environment ? [message.content.replace(tag, '')] : [],
    ),
  );
  const texts = told.map((all) => all.join()).toSorted((a, b) => a.localeCompare(b));
  const wrong = ['left', 'right'].flatMap((part) => {
    const ran = effects.filter((effect) => effect.tag === `${tag}-${part}` && effect.phase === 'begin').length;
    const starts = children
      .filter(({ messages }) => JSON.stringify(messages).includes(`part ${part} of`))
      .flatMap(({ runs }) =>
        runs.flatMap(({ journal }) => journal.filter(({ kind }) => kind === 'tool_started')),
      ).length;
    return ran >= 1 && ran <= starts ? [] : [`the command of ${part} ran ${ran} times, started ${starts} times`];
  });
  return [
    ...(outcomes.join() === 'done,done,done,done,done' ? [] : [`results: ${outcomes.join()}`]),
    ...(texts.join('|') === 'part left of ,more for |part right of ' ? [] : [`children were told: ${texts.join('|')}`]),
    ...wrong,
  ];
}
