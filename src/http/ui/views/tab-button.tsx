import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { WorkstreamState } from '../../../../protocol/stream-events.ts';
import type { Desk } from '../state/app.ts';
import { type Tab, tabName, tabState } from '../state/tab.ts';
import { Icon } from './icons.tsx';

export const STATE_WORDS: Record<WorkstreamState, string> = {
  idle: 'idle',
  thinking: 'thinking',
  running: 'running tools',
  attention: 'waiting for you',
  error: 'stopped by an error',
};

/** One workstream in the list: its state, its name (double click or F2 renames), its close button. */
export function TabButton({ tab, desk, isOnly }: { tab: Tab; desk: Desk; isOnly: boolean }) {
  const renaming = useSignal(false);
  const isFront = desk.workstreams.front.value === tab;
  const state = tabState(tab);
  const name = tabName(tab);
  const rename = () => {
    renaming.value = true;
  };
  if (renaming.value)
    return (
      <RenameField
        tab={tab}
        desk={desk}
        onDone={() => {
          renaming.value = false;
        }}
      />
    );
  return (
    <div class={`tab ${isFront ? 'front' : ''}`}>
      <button
        type="button"
        role="tab"
        class="tab-main"
        id={`tab-${tab.wsId}`}
        aria-selected={isFront}
        aria-controls="conversation"
        tabIndex={isFront ? 0 : -1}
        title={`${name}: ${STATE_WORDS[state]}. Double click to rename.`}
        onClick={() => desk.workstreams.select(tab.wsId)}
        onDblClick={rename}
        onKeyDown={({ key }) => {
          if (key === 'F2') rename();
        }}
      >
        <span class={`dot ${state}`} aria-hidden="true" />
        <span class="tab-name">{name}</span>
        <span class="hidden-text">{STATE_WORDS[state]}</span>
        {state === 'attention' && <span class="badge">asks</span>}
        {state !== 'attention' && tab.unread.value && (
          <span class="unread">
            <span class="hidden-text">unread</span>
          </span>
        )}
      </button>
      {!isOnly && (
        <button
          type="button"
          class="quiet icon-only tab-close"
          aria-label={`Close ${name}`}
          title="Close; the conversation stays saved"
          onClick={() => void closeTab(tab, desk)}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

function RenameField({ tab, desk, onDone }: { tab: Tab; desk: Desk; onDone(): void }) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const save = async () => {
    const name = field.current?.value.trim() ?? '';
    if (name !== '' && name !== tabName(tab)) await desk.actions.update(tab, { name });
    onDone();
  };
  return (
    <input
      ref={field}
      class="tab-rename"
      aria-label="New name"
      maxLength={128}
      defaultValue={tabName(tab)}
      onBlur={() => void save()}
      onKeyDown={({ key }) => {
        if (key === 'Enter') field.current?.blur();
        if (key === 'Escape') onDone();
      }}
    />
  );
}

async function closeTab(tab: Tab, desk: Desk): Promise<void> {
  try {
    await desk.workstreams.close(tab);
  } catch (error) {
    tab.problem.value = error instanceof Error ? error.message : String(error);
  }
}
