import { useLayoutEffect } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import { toTaskWords } from '../../state/first-run/guide-words.ts';

/** Explains what happens in the first task. */
export function TaskNotice({ desk, conversation }: { desk: Desk; conversation: Conversation }) {
  const { state, blocks } = conversation;
  const hasAnswer = blocks.some(({ kind }) => kind !== 'user');
  const isDone = state === 'idle' && hasAnswer;
  useLayoutEffect(() => desk.guide.follow(isDone), [desk, isDone]);
  return (
    <aside class="task-notice" aria-label="First steps">
      <div>
        <p role="status">{toTaskWords(state, hasAnswer)}</p>
        <button type="button" class="quiet" onClick={() => desk.guide.leave()}>
          {isDone ? 'Finish' : 'Hide'}
        </button>
      </div>
    </aside>
  );
}
