import type { TodoItem } from '../../../protocol/events/todo.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import { findTodo } from '../../../protocol/text/todo-words.ts';
import type { Range } from '../cuts/cut.ts';
import { toHistory } from './history.ts';
import type { Messages } from './messages.ts';

/** A checklist that was not changed in so many pages before the shown one is not looked for: nobody works on it. */
const MOST_PAGES = 5;

interface Place extends Range {
  wsId: string;
  /** The newest messages of the range. */
  shown: { messages: readonly HistoryMessage[]; truncated: boolean };
}

/** The agent's checklist after these messages. */
export async function latestTodo(
  messages: Pick<Messages, 'backwards'>,
  { wsId, after, upTo, shown }: Place,
): Promise<TodoItem[] | undefined> {
  const found = findTodo(shown.messages);
  if (found || !shown.truncated) return found;
  const first = shown.messages[0]?.seq ?? upTo + 1;
  let left = MOST_PAGES;
  for await (const page of messages.backwards(wsId, { after, upTo: first - 1 })) {
    const older = findTodo(toHistory(page));
    left -= 1;
    if (older || left === 0) return older;
  }
  return undefined;
}
