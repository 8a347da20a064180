import { useSignal } from '@preact/signals';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { App, Desk } from '../state/app.ts';
import { type Tab, tabName, tabState } from '../state/tab.ts';
import { Icon } from './icons.tsx';
import { RenameField } from './rename-field.tsx';

export const STATE_WORDS: Record<WorkstreamState, string> = {
  idle: 'idle',
  thinking: 'thinking',
  running: 'running tools',
  attention: 'waiting for you',
  error: 'stopped by an error',
};

interface TabButtonProps {
  app: App;
  tab: Tab;
  desk: Desk;
  /** The only tab cannot be closed. */
  mayClose: boolean;
  onChosen(): void;
}

/** One workstream in the list: its state, its name (double click or F2 renames), its close button (or Delete). */
export function TabButton({ app, tab, desk, mayClose, onChosen }: TabButtonProps) {
  const renaming = useSignal(false);
  const isNext = desk.workstreams.front.value === tab;
  const isFront = isNext && desk.workstreams.shown.value === 'conversation';
  const state = tabState(tab);
  const name = tabName(tab);
  const who = app.who.value;
  const { owners } = desk;
  const owner = owners.otherThan(who, tab.row.value);
  const mayRename = app.rights.write.value;
  const rename = () => {
    renaming.value = mayRename;
  };
  if (renaming.value)
    return (
      <li class="tab">
        <RenameField
          name={tabName(tab)}
          save={(changed) => desk.actions.rename(tab, changed)}
          onDone={() => {
            renaming.value = false;
          }}
        />
      </li>
    );
  return (
    <li class={`tab ${isFront ? 'front' : ''}`}>
      <button
        type="button"
        role="tab"
        class="tab-main"
        id={`tab-${tab.wsId}`}
        aria-selected={isFront}
        aria-controls="conversation"
        tabIndex={isNext ? 0 : -1}
        title={`${name}: ${STATE_WORDS[state]}.${owner === undefined ? '' : ` Owner: ${owner}.`}${mayRename ? ' Double-click to rename.' : ''}`}
        onClick={() => {
          desk.workstreams.select(tab.wsId);
          onChosen();
        }}
        onDblClick={rename}
        onKeyDown={({ key }) => {
          if (key === 'F2') rename();
          if (key === 'Delete' && mayClose) void closeTab(tab, desk);
        }}
      >
        <span class={`dot ${state}`} aria-hidden="true" />
        <span class="tab-name">{name}</span>
        {owner !== undefined && tab.row.value.userId !== '' && (
          <span class="tab-owner">
            <span class="hidden-text">of</span> {owner}
          </span>
        )}
        {tab.row.value.visibility === 'private' && (
          <span class="tab-lock" title={`${owners.onlyWords(who, tab.row.value)} see it`}>
            <Icon name="lock" />
            <span class="hidden-text">private</span>
          </span>
        )}
        <span class="hidden-text">{STATE_WORDS[state]}</span>
        {state === 'attention' && <span class="badge">asks</span>}
        {state !== 'attention' && tab.unread.value && (
          <span class="unread">
            <span class="hidden-text">unread</span>
          </span>
        )}
      </button>
      {mayClose && (
        <button
          type="button"
          class="quiet icon-only tab-close"
          tabIndex={isNext ? 0 : -1}
          aria-label={`Close ${name}`}
          title="Close; the conversation stays saved"
          onClick={() => void closeTab(tab, desk)}
        >
          <Icon name="close" />
        </button>
      )}
    </li>
  );
}

async function closeTab(tab: Tab, desk: Desk): Promise<void> {
  try {
    await desk.workstreams.close(tab);
  } catch (error) {
    tab.problem.value = wordsOf(error);
  }
}
