import type { Block } from '../conversation/blocks.ts';

interface Finding {
  words: string;
  blocks: readonly Block[];
  /** The keys of the blocks that contain the words. */
  found: readonly string[];
  /** The key of the block that is shown. */
  at: string | undefined;
  /** Not all blocks have been looked at. */
  isBusy: boolean;
}

/** How many messages and calls contain the words. Each may have more than one mark, so the count says what it counts. */
export function toFoundWords({ words, blocks, found, at, isBusy }: Finding): string {
  if (words.trim() === '') return '';
  if (isBusy) return 'Searching…';
  if (found.length === 0) return 'Nothing found';
  const index = at === undefined ? -1 : found.indexOf(at);
  const what = toNoun(blocks, found);
  return index < 0 ? `In ${found.length} ${what}` : `${index + 1} of ${found.length} ${what}`;
}

function toNoun(blocks: readonly Block[], found: readonly string[]): string {
  const keys = new Set(found);
  const kinds = blocks.filter(({ key }) => keys.has(key)).map(isCall);
  const [message, call] = found.length === 1 ? ['message', 'call'] : ['messages', 'calls'];
  if (kinds.every((isOne) => !isOne)) return message;
  return kinds.every((isOne) => isOne) ? call : 'messages and calls';
}

const isCall = ({ kind }: Block): boolean => kind === 'tool' || kind === 'approval' || kind === 'decision';
