import { type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { FoundMessage } from '../../../../protocol/methods/conversation/listing.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Narrowing } from './rail-filters.ts';

interface Found {
  words: string;
  messages: readonly FoundMessage[];
  problem?: string;
}

/** Marks of Markdown that would only be in the way in one line. */
const EMPHASIS = /\*\*|__|`+/g;

/** How often a search is repeated while the daemon is still making its index. */
const MOST_REPEATS = 20;

/** Finds messages in all conversations. Only the last search counts. */
export class MessageFinder {
  readonly #client: Pick<GatewayClient, 'call'>;
  readonly #found = signal<Found | undefined>(undefined);
  #searches = 0;

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** Undefined without words, and until the first answer. */
  get found(): ReadonlySignal<Found | undefined> {
    return this.#found;
  }

  async find(text: string, narrowing: Narrowing = {}): Promise<void> {
    this.#searches += 1;
    const search = this.#searches;
    const words = text.trim();
    if (words === '') this.#found.value = undefined;
    for (let repeats = 0; words !== '' && repeats < MOST_REPEATS; repeats += 1) {
      const answer = await this.#ask(words, narrowing);
      if (search !== this.#searches) return;
      this.#found.value = answer;
      if (!answer.isIncomplete) return;
    }
  }

  async #ask(words: string, narrowing: Narrowing): Promise<Found & { isIncomplete?: boolean }> {
    try {
      const { messages, isIncomplete } = await this.#client.call('workstream.find', { query: words, ...narrowing });
      const shown = messages.map((hit) => ({ ...hit, excerpt: hit.excerpt.replaceAll(EMPHASIS, '') }));
      return isIncomplete ? { words, messages: shown, isIncomplete } : { words, messages: shown };
    } catch (error) {
      return { words, messages: [], problem: wordsOf(error) };
    }
  }
}

/** What to mark in a conversation: the words as they were typed if they stand together, else the longest one that is there. */
export function wordsToMark(words: string, excerpt: string): string {
  const text = excerpt.toLowerCase();
  const isThere = (word: string) => text.includes(word.toLowerCase());
  if (isThere(words.trim())) return words.trim();
  const single = words.split(/\s+/).filter((word) => word !== '' && isThere(word));
  return single.toSorted((a, b) => b.length - a.length)[0] ?? words.trim();
}
