import type { TodoItem } from '../../../../protocol/events/todo.ts';
import { isBusy } from '../../../../protocol/is-busy.ts';
import { isOpenTodo, toTodoWords } from '../../../../protocol/text/todo-words.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import { todoOf } from '../../state/conversation/todo-list.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { Icon, type IconName } from '../icons.tsx';

const STATUSES: Record<TodoItem['status'], { word: string; icon: IconName | undefined }> = {
  pending: { word: 'to do', icon: undefined },
  in_progress: { word: 'in progress', icon: 'play' },
  done: { word: 'done', icon: 'check' },
  cancelled: { word: 'not needed', icon: 'cross' },
};

/** The agent's checklist above the composer, while something on it is open or the agent works. */
export function TodoPanel({ conversation }: { conversation: Conversation }) {
  const items = todoOf(conversation);
  if (items.length === 0 || !(isOpenTodo(items) || isBusy(conversation.state))) return null;
  const current = items.find(({ status }) => status === 'in_progress');
  return (
    <details class="todo" open>
      <summary>
        <b>Checklist</b> {toTodoWords(items)}
        {current && <span class="todo-current">{showHidden(current.text)}</span>}
      </summary>
      <ul aria-label="Checklist">
        {items.map(({ text, status }, index) => {
          const { word, icon } = STATUSES[status];
          return (
            <li key={index} class={status}>
              <span class="todo-mark">{icon && <Icon name={icon} />}</span>
              <span class="todo-text">{showHidden(text)}</span>
              <span class="hidden-text">{word}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
