import type { Result } from '../../../protocol/index.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';

/** What a search has found. */
export interface Found {
  workstreams: Result<'workstream.saved'>['workstreams'];
  messages: Result<'workstream.find'>['messages'];
}

/** Conversations, then messages, with the words marked. Each line begins with what `--ws` accepts. */
export function toFoundLines({ workstreams, messages }: Found, words: readonly string[], paint: Paint): string[] {
  const show = (text: string) => mark(toSafeText(text.replaceAll(/\s+/g, ' ')), words, paint);
  const lines = [
    ...workstreams.map(({ wsId, name, title, updatedMs }) =>
      [wsId, toDay(updatedMs), show(title === null || title === name ? name : `${name}: ${title}`)].join('  '),
    ),
    ...messages.map(({ wsId, name, seq, role, createdMs, excerpt }) =>
      [wsId, toDay(createdMs), `${show(name)} #${seq} ${role}: ${show(excerpt)}`].join('  '),
    ),
  ];
  return lines.length > 0 ? lines : ['Nothing has these words.'];
}

/** Where a word begins with one of these, that part is bold. */
function mark(text: string, words: readonly string[], paint: Paint): string {
  const wanted = words.filter((word) => word !== '').toSorted((a, b) => b.length - a.length);
  if (wanted.length === 0) return text;
  const beginning = new RegExp(`(?<![\\p{L}\\p{N}])(?:${wanted.map(toPattern).join('|')})`, 'giu');
  return text.replaceAll(beginning, (found) => paint(['bold', 'underline'], found));
}

/** A pattern that matches exactly this text. */
const toPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
