import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';

const STARTERS = ['What is in this folder?', 'Explain what this project does', 'help'] as const;

/** Shown in an empty conversation, with suggestions for a first message. */
export function Welcome({ tab, mayWrite }: { tab: Tab; mayWrite: boolean }) {
  if (!mayWrite)
    return <p class="empty">Nobody has written anything here yet. New messages and answers appear here.</p>;
  return (
    <div class="welcome">
      <span class="mark big">
        <Icon name="gate" />
      </span>
      <h2>What shall we do?</h2>
      <p>The agent reads files and runs commands in its working directory. It asks before it changes anything.</p>
      <ul>
        {STARTERS.map((text) => (
          <li key={text}>
            <button
              type="button"
              onClick={() => {
                tab.draft.value = text;
                document.getElementById('message')?.focus();
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
