import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import type { Block, UserBlock } from './blocks.ts';

/** The shown part of a conversation: the messages from `firstSeq`; `truncated`: older ones exist. */
interface Shown {
  readonly blocks: readonly Block[];
  readonly firstSeq: number | undefined;
  readonly truncated: boolean;
}

/** Drops the messages that were taken back, with everything after the first of them. */
export function rewindBlocks(
  { blocks, firstSeq = 0, truncated }: Shown,
  { after_seq }: Pick<StreamEventOf<'rewound'>, 'after_seq'>,
): readonly Block[] {
  if (truncated && after_seq < firstSeq) return []; // the page begins inside what was taken back
  const first = blocks.findIndex((block) => isAsked(block) && block.seq !== undefined && block.seq > after_seq);
  return first < 0 ? blocks : blocks.slice(0, first);
}

/** Drops a failed message with the error that follows it. */
export function removeMessage(
  blocks: readonly Block[],
  { seq }: Pick<StreamEventOf<'message_removed'>, 'seq'>,
): readonly Block[] {
  const index = blocks.findIndex((block) => isAsked(block) && block.seq === seq);
  if (index < 0) return blocks;
  const next = blocks.findIndex((block, place) => place > index && isAsked(block));
  const after = blocks.slice(index + 1, next < 0 ? undefined : next);
  return [
    ...blocks.slice(0, index),
    ...after.filter((block) => !(block.kind === 'note' && block.level === 'error')),
    ...(next < 0 ? [] : blocks.slice(next)),
  ];
}

const isAsked = (block: Block): block is UserBlock => block.kind === 'user';
