import type { TodoItem } from '../../../../protocol/events/todo.ts';
import { readTodo, TODO_TOOL } from '../../../../protocol/text/todo-words.ts';
import { type Block, isTool, type ToolBlock } from './blocks.ts';
import type { Conversation } from './conversation.ts';

/** The agent's checklist: as its latest call left it, or as the snapshot had it. */
export function todoOf({ blocks, olderTodo }: Pick<Conversation, 'blocks' | 'olderTodo'>): readonly TodoItem[] {
  const latest = blocks.findLast(isWritten);
  return (latest && itemsOf(latest)) ?? olderTodo ?? [];
}

const isWritten = (block: Block): block is ToolBlock =>
  isTool(block) && block.phase === 'done' && (block.name === TODO_TOOL || block.todo !== undefined);

/** Many events come while a list stays the same. */
const known = new WeakMap<ToolBlock, readonly TodoItem[] | undefined>();

function itemsOf(block: ToolBlock): readonly TodoItem[] | undefined {
  if (!known.has(block)) known.set(block, block.todo ?? (block.recalled && readTodo(block.recalled.arguments)));
  return known.get(block);
}
