import { useSignal } from '@preact/signals';
import type { App, Desk } from '../state/app.ts';
import { Icon } from './icons.tsx';
import { NewWorkstreamDialog } from './new-workstream-dialog.tsx';
import { SavedDialog } from './saved-dialog.tsx';
import { TabButton } from './tab-button.tsx';

/** The workstreams, and the way to more of them: a column beside the conversation, a strip above it on a phone. */
export function Rail({ app, desk }: { app: App; desk: Desk }) {
  const dialog = useSignal<'new' | 'saved' | undefined>(undefined);
  const tabs = desk.workstreams.tabs.value;
  const close = () => {
    dialog.value = undefined;
  };
  return (
    <nav class="rail" aria-label="Workstreams">
      <div class="brand">
        <span class="mark">
          <Icon name="gate" />
        </span>
        <span class="brand-name">Headgate</span>
      </div>
      <div class="tabs" role="tablist" aria-label="Workstreams" onKeyDown={(event) => moveFocus(event)}>
        {tabs.map((tab) => (
          <TabButton key={tab.wsId} tab={tab} desk={desk} isOnly={tabs.length === 1} />
        ))}
      </div>
      <div class="rail-actions">
        <button
          type="button"
          class="quiet"
          onClick={() => {
            dialog.value = 'new';
          }}
        >
          <Icon name="plus" />
          <span>New workstream</span>
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            dialog.value = 'saved';
          }}
        >
          <Icon name="archive" />
          <span>Saved conversations</span>
        </button>
      </div>
      <RailFoot app={app} />
      {dialog.value === 'new' && <NewWorkstreamDialog app={app} desk={desk} onClose={close} />}
      {dialog.value === 'saved' && <SavedDialog desk={desk} onClose={close} />}
    </nav>
  );
}

function RailFoot({ app }: { app: App }) {
  const { kind } = app.connection.value;
  const word = kind === 'open' ? 'Connected' : kind === 'connecting' ? 'Connecting…' : 'Disconnected';
  const version = app.health.value?.version;
  return (
    <div class="rail-foot">
      <span class={`link-state link-${kind}`} role="status">
        {word}
      </span>
      {version !== undefined && <span class="version">{version}</span>}
      {app.auth.value.authEnabled && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Log out"
          title="Log out"
          onClick={() => void app.logOut()}
        >
          <Icon name="exit" />
        </button>
      )}
    </div>
  );
}

/** Arrow keys walk along the tabs, as a tab list promises. */
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step === undefined || event.target instanceof HTMLInputElement) return;
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
  const at = tabs.findIndex((tab) => tab.contains(document.activeElement));
  const next = tabs[(at + step + tabs.length) % tabs.length];
  event.preventDefault();
  next?.focus();
}
