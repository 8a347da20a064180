import { type Block, isApproval, isStreaming, isTool, type UserBlock } from './blocks.ts';
import type { Conversation } from './conversation.ts';
import { todoOf } from './todo-list.ts';

/** A page that stays open for days shows at most so many blocks, unless a person reads older ones. */
export const MOST_BLOCKS = 1_000;
/** So many stay at least, so that blocks are forgotten rarely, and in large steps. */
export const KEPT_BLOCKS = 500;

/**
 * Forgets the oldest turns of a long conversation, which can be read again like other older pages. Nothing that still changes
 * is forgotten, nor the call that is shown beside the conversation. A single turn stays as long as it is, because only messages
 * of people have numbers to read before.
 */
export function forgetOld(conversation: Conversation, shownCallId?: string): Conversation {
  const { blocks } = conversation;
  if (blocks.length <= MOST_BLOCKS) return conversation;
  const cut = blocks.findLastIndex((block, index) => index <= blocks.length - KEPT_BLOCKS && isNumbered(block));
  const first = blocks[cut];
  if (cut <= 0 || !first || !isNumbered(first)) return conversation;
  const isNeeded = (block: Block) => isChanging(block) || (isTool(block) && block.callId === shownCallId);
  if (blocks.slice(0, cut).some(isNeeded)) return conversation;
  const todo = todoOf(conversation); // its call may be among the forgotten ones
  return {
    ...conversation,
    blocks: blocks.slice(cut),
    firstSeq: first.seq,
    truncated: true,
    olderTodo: todo.length > 0 ? todo : undefined,
  };
}

const isNumbered = (block: Block): block is UserBlock & { seq: number } =>
  block.kind === 'user' && block.seq !== undefined;

const isChanging = (block: Block): boolean =>
  isStreaming(block) ||
  (isTool(block) && block.phase === 'running') ||
  (isApproval(block) && block.decision === undefined);
