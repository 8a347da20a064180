import type { Block } from '../conversation/blocks.ts';
import { toPlainText } from '../text/ansi.ts';

/** Finds the blocks that contain words, some at a time, so that a long conversation does not block the page. */
export class BlockSearch {
  readonly words: string;
  /** What is known about each block. A changed block is another object, which is looked at again. */
  readonly #known = new WeakMap<Block, boolean>();

  constructor(words: string) {
    this.words = words.trim().toLowerCase();
  }

  /** Looks at blocks until about `chars` characters have been read. Returns whether all have been looked at. */
  step(blocks: readonly Block[], chars: number): boolean {
    let left = chars;
    // The latest first: a person sees them.
    for (let index = blocks.length - 1; index >= 0; index -= 1) {
      const block = blocks[index];
      if (block === undefined || this.#known.has(block)) continue;
      if (left <= 0) return false;
      const text = textOf(block);
      left -= text.length + 100;
      this.#known.set(block, this.words !== '' && text.toLowerCase().includes(this.words));
    }
    return true;
  }

  /** The keys of the blocks found so far, in the order of the conversation. */
  found(blocks: readonly Block[]): string[] {
    return blocks.flatMap((block) => (this.#known.get(block) === true ? [block.key] : []));
  }
}

/** What a person can read of a block. */
function textOf(block: Block): string {
  switch (block.kind) {
    case 'user':
      return [block.text, ...(block.attachments ?? []).map(({ filename }) => filename)].join('\n');
    case 'answer':
    case 'note':
    case 'summary':
      return block.text;
    case 'tool':
      return [block.name, block.subject ?? block.header, toPlainText(block.result ?? block.live)].join('\n');
    case 'approval':
      return block.items.map(({ header, preview }) => `${header}\n${preview}`).join('\n');
    case 'decision':
      return [...block.names, block.decision.feedback].join('\n');
  }
}

/** The place after `at`, or before it, among the keys found; the first follows the last. */
export function stepFound(found: readonly string[], at: string | undefined, by: 1 | -1): string | undefined {
  const index = at === undefined ? -1 : found.indexOf(at);
  if (index < 0) return by === 1 ? found.at(0) : found.at(-1);
  return found[(index + by + found.length) % found.length];
}
