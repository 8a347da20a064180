import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLinesWith } from '../../../src/testing/command-lines.ts';
import { tempDir } from '../../../src/testing/temp-store.ts';
import { pause } from '../../support/deadline.ts';
import { callTools, say } from '../../support/model/scripted-steps.ts';
import type { Feature, Left } from '../kill-feature.ts';

const place = (name: string) => fileURLToPath(new URL(name, import.meta.url)).replace(/\/$/, '');
const SERVER = place('../../support/mcp/recording-server.ts');
/** Sandboxes end with the daemon; the kernel needs a moment for that on a busy machine. */
const MOST_LOOKS = 50;

/** One call of a tool server, which tells of its progress. */
export function toolCalls(): Feature {
  let interrupted = 0;
  const folder = tempDir();
  const file = path.join(folder.path, 'calls.txt');
  return {
    message: 'record',
    effectsFile: file,
    config: {
      mcp: {
        servers: {
          recorder: {
            ...{ command: process.execPath, args: [SERVER, file], writesFolders: true },
            folders: [folder.path, place('../../..')],
          },
        },
      },
    },
    answer({ messages }, tag) {
      if (messages.some(({ role }) => role === 'tool')) return say('It is recorded.');
      return callTools({ name: 'mcp__recorder__record', id: 'call_record', arguments: { tag: `${tag}-record` } });
    },
    // Every other interrupted call does not run again.
    decide(client, { approvalId, kind }) {
      if (kind === 'outcome') interrupted += 1;
      const approved = kind !== 'outcome' || interrupted % 2 === 0;
      return client.call('approval.resolve', { approvalId, approved });
    },
    async whileDown() {
      for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
        if ((await commandLinesWith(file)).length === 0) return [];
        await pause(100);
      }
      return ['the tool server outlives the daemon'];
    },
    end: () => folder[Symbol.dispose](),
    findings,
  };
}

function findings({ workstream: { runs, messages, events }, effects }: Left): string[] {
  const journal = runs.flatMap(({ journal: lines }) => lines);
  const starts = journal.filter(({ kind }) => kind === 'tool_started').length;
  const asked = events.filter(({ event }) => event.type === 'approve_request').length;
  const begun = effects.filter(({ phase }) => phase === 'begin').length;
  const ended = effects.filter(({ phase }) => phase === 'end').length;
  const outcomes = messages.flatMap(({ message }) => (message.role === 'tool' ? [message.outcome] : []));
  return [
    ...(outcomes.length === 1 && ['done', 'unknown'].includes(outcomes[0] ?? '') ? [] : [`outcomes: ${outcomes}`]),
    ...(outcomes[0] === 'done' && ended === 0 ? ['it is done, but the server did not end it'] : []),
    ...(outcomes[0] === 'unknown' && begun > 1 ? ['it ran again, although nobody wanted that'] : []),
    ...(begun <= starts ? [] : [`it ran ${begun} times, but was started ${starts} times`]),
    ...(starts <= asked ? [] : [`it was started ${starts} times, but asked about ${asked} times`]),
  ];
}
