import { effectCommand } from '../../checker/recording/effects-file.ts';
import { callTools, say } from '../../support/model/scripted-steps.ts';
import type { Feature, Left } from '../kill-feature.ts';

const FILE = 'watches.txt';

/** A watch that fires at its first poll, or at the one after an interrupted poll. Its result begins a further run. */
export const WATCHES: Feature = {
  message: 'wait for',
  effectsFile: FILE,
  answer({ messages }, tag) {
    const last = messages.findLast(({ role }) => role === 'user');
    if (JSON.stringify(last?.content).includes('[watch ')) return say('It has happened.');
    if (messages.some(({ role }) => role === 'tool')) return say('I wait.');
    const command = effectCommand({ tag: `${tag}-poll`, file: FILE, secs: 0 });
    const args = { action: 'create', name: 'it', command, interval: '10s', max_polls: 5, stop_on: 'exit_code == 0' };
    return callTools({ name: 'watch', id: 'call_watch', arguments: args });
  },
  async isOver(client, wsId) {
    const { watches } = await client.call('watch.list', { wsId, ended: true });
    const { messages } = await client.call('workstream.history', { wsId });
    const { snapshot } = await client.call('workstream.get', { wsId });
    const isIdle = snapshot.workstream.state === 'idle'; // the last message is stored before its run ends
    const told = messages.filter(({ role, content }) => role === 'user' && content?.startsWith('[watch '));
    const isAnswered = messages.at(-1)?.role === 'assistant';
    return watches.every(({ active }) => active === 0) && told.length >= watches.length && isAnswered && isIdle;
  },
  findings({ workstream: { runs, watches }, effects }: Left) {
    const starts = runs.flatMap(({ journal }) => journal.filter(({ kind }) => kind === 'tool_started')).length;
    const polls = watches.reduce((sum, { poll_count }) => sum + poll_count, 0);
    const ran = effects.filter(({ phase }) => phase === 'begin').length;
    const told = runs.filter(({ run }) => JSON.parse(run.request_json).watch !== undefined).length;
    return [
      ...(watches.length >= 1 && watches.length <= starts ? [] : [`${watches.length} watches, ${starts} starts`]),
      ...(watches.every(({ end_kind: end }) => end === 'fired') ? [] : [`ends: ${watches.map((w) => w.end_kind)}`]),
      ...(ran >= 1 && ran <= polls ? [] : [`ran ${ran} times, ${polls} polls were claimed`]),
      ...(told === watches.length ? [] : [`${watches.length} watches were told ${told} times`]),
    ];
  },
};
