import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';
import { LazyPiece } from '../parts/lazy-views.tsx';
import { FIRST_STEPS } from '../parts/parts.ts';

const STARTERS = ['What is in this folder?', 'Explain what this project does', 'help'] as const;

/** Shown in an empty conversation: suggestions for a first message, or the first steps in a new home. */
export function Welcome({ app, desk, tab }: { app: App; desk: Desk; tab: Tab }) {
  const { guide } = desk;
  const { write, createWorkstreams, decide } = app.rights;
  const mayGuide = write.value && createWorkstreams.value && decide.value;
  useEffect(() => {
    if (mayGuide) guide.offer().catch(() => undefined); // without an answer, the suggestions are enough
  }, [mayGuide, guide]);
  if (!write.value)
    return <p class="empty">Nobody has written anything here yet. New messages and answers appear here.</p>;
  if (mayGuide && guide.isOpen.value)
    return (
      <LazyPiece part={FIRST_STEPS} desk={desk}>
        {({ FirstSteps }) => <FirstSteps desk={desk} />}
      </LazyPiece>
    );
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
      {mayGuide && (
        <button type="button" class="quiet" onClick={() => guide.open()}>
          Show the first steps
        </button>
      )}
    </div>
  );
}
