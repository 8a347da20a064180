import type { App, Desk } from '../state/app.ts';
import { tabState } from '../state/tab.ts';
import { Icon } from './icons.tsx';
import type { Overlay } from './overlay.ts';

/** On a phone: opens the list of workstreams, and shows whether another one waits for a decision. */
export function TopBar({ app, desk, overlay }: { app: App; desk: Desk; overlay: Overlay }) {
  const { tabs, front } = desk.workstreams;
  const asks = tabs.value.some((tab) => tab !== front.value && tabState(tab) === 'attention');
  const news = asks ? '; one waits for you' : desk.nodes.waiting.value > 0 ? '; a machine asks to be paired' : '';
  return (
    <div class="top-bar">
      <button
        type="button"
        class="quiet icon-only"
        aria-label={`Workstreams${news}`}
        aria-expanded={overlay.value === 'drawer'}
        aria-controls="rail"
        onClick={() => {
          overlay.value = 'drawer';
        }}
      >
        <Icon name="menu" />
        {news !== '' && <span class="dot attention" />}
      </button>
      {app.rights.createWorkstreams.value && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Start a new workstream"
          onClick={() => {
            overlay.value = 'new';
          }}
        >
          <Icon name="plus" />
        </button>
      )}
    </div>
  );
}
