import { callTools, say } from '../../support/model/scripted-steps.ts';
import type { Feature, Left } from '../kill-feature.ts';

/** As memories are called: in lower case, with underscores. */
const namesFor = (tag: string) => ['a_kept', 'b_dropped'].map((name) => `${name}_${plain(tag)}`);

const plain = (tag: string) => tag.replaceAll('-', '_');

/** Two memories are saved, searched and listed, and one is deleted. */
const remembering = (isForeign: boolean): Feature => ({
  message: isForeign ? 'a stranger says' : 'remember',
  ...(isForeign && { isForeign: true as const }),
  answer({ messages }, tag) {
    const [kept = '', dropped = ''] = namesFor(tag);
    const results = messages.filter(({ role }) => role === 'tool').length;
    const call = (args: object) => callTools({ name: 'memory', id: `call_${results}`, arguments: args });
    const save = (name: string) => call({ action: 'save', name, content: `content of ${name}` });
    if (results === 0) return save(kept);
    if (results === 1) return save(dropped);
    if (results === 2) return call({ action: 'search', query: 'content' });
    if (results === 3 && !isForeign) return call({ action: 'delete', name: dropped });
    return say('I know.');
  },
  findings: (left) => findingsIn(left, { isForeign }),
});

function findingsIn({ tag, disk, workstream }: Left, { isForeign }: { isForeign: boolean }): string[] {
  const results = workstream.messages.flatMap(({ message }) => (message.role === 'tool' ? [message.outcome] : []));
  const outcomes = isForeign ? ['done', 'done', 'done'] : ['done', 'done', 'done', 'done'];
  const found = disk.memories
    .filter(({ name }) => name.endsWith(plain(tag)))
    .map(({ name, waits }) => `${name} ${waits}`);
  const names = isForeign ? namesFor(tag) : namesFor(tag).slice(0, 1);
  const expected = names.map((name) => `${name} ${isForeign}`).toSorted((a, b) => a.localeCompare(b));
  return [
    ...(results.join() === outcomes.join() ? [] : [`results: ${results.join()}`]),
    ...(found.join() === expected.join() ? [] : [`memories: ${found.join()}, not ${expected.join()}`]),
  ];
}

export const MEMORIES: Feature = remembering(false);
/** What they save after the words of a stranger waits for a person. */
export const QUARANTINE: Feature = remembering(true);
