import { useSignal } from '@preact/signals';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { App, Desk } from '../state/app.ts';
import type { ListedTab } from '../state/coordinators/arranged-tabs.ts';
import { toAge } from '../state/rail/age.ts';
import { type Tab, tabName, tabState } from '../state/tab.ts';
import { indentOf } from './agents/indent.ts';
import { Icon } from './icons.tsx';
import { RowMenu } from './rail/row-menu.tsx';
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
  listed: ListedTab;
  desk: Desk;
  /** The only tab cannot be closed. */
  mayClose: boolean;
  /** Whether Tab leads to it: to one of the list, from which the arrow keys go on. */
  isNext: boolean;
  onChosen(): void;
}

/** One workstream in the list: its state, its name (double click or F2 renames), its close button (or Delete). */
export function TabButton({ app, listed, desk, mayClose, isNext, onChosen }: TabButtonProps) {
  const { tab, depth } = listed;
  const renaming = useSignal(false);
  const isFront = desk.workstreams.front.value === tab && desk.workstreams.shown.value === 'conversation';
  const state = tabState(tab);
  const name = tabName(tab);
  const owner = desk.owners.otherThan(app.who.value, tab.row.value);
  const mayRename = app.rights.write.value;
  const rename = () => {
    renaming.value = mayRename;
  };
  if (renaming.value)
    return (
      <li class="tab" style={indentOf(depth)}>
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
    <li class={`tab ${isFront ? 'front' : ''}`} style={indentOf(depth)}>
      <button
        type="button"
        role="tab"
        class="tab-main"
        id={`tab-${tab.wsId}`}
        aria-selected={isFront}
        aria-controls="conversation"
        tabIndex={isNext ? 0 : -1}
        title={`${name}: ${tab.row.value.waiting?.message ?? `${STATE_WORDS[state]}.`}${owner === undefined ? '' : ` Owner: ${owner}.`}${mayRename ? ' Double-click to rename.' : ''}`}
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
        <span class="tab-name" dir="auto">
          {name}
        </span>
        <CoordinatorMark listed={listed} />
        <Marks app={app} desk={desk} tab={tab} />
      </button>
      <FoldButton listed={listed} name={name} desk={desk} />
      <RowMenu
        app={app}
        desk={desk}
        tab={tab}
        mayClose={mayClose}
        isNext={isNext}
        rename={rename}
        close={() => void closeTab(tab, desk)}
      />
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

/** Whose it is, who sees it, and what is new in it. */
function Marks({ app, desk, tab }: Pick<TabButtonProps, 'app' | 'desk'> & { tab: Tab }) {
  const who = app.who.value;
  const { owners } = desk;
  const owner = owners.otherThan(who, tab.row.value);
  const state = tabState(tab);
  return (
    <>
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
      {state !== 'attention' && !tab.unread.value && (
        <span class="tab-age" aria-hidden="true">
          {toAge(tab.row.value.updatedMs, desk.now())}
        </span>
      )}
      {state !== 'attention' && tab.unread.value && (
        <span class="unread">
          <span class="hidden-text">unread</span>
        </span>
      )}
    </>
  );
}

/** The number of its workstreams takes the place of the icon. */
const CoordinatorMark = ({ listed: { tab, below } }: { listed: ListedTab }) =>
  tab.row.value.kind === 'coordinator' ? (
    <span class="tab-lock" title="Coordinator: has other workstreams work for it">
      {below === 0 && <Icon name="fork" />}
      <span class="hidden-text">coordinator</span>
    </span>
  ) : null;

/** Folds what stands below a coordinator. */
function FoldButton({ listed: { tab, below, isFolded }, name, desk }: { listed: ListedTab; name: string; desk: Desk }) {
  if (below === 0) return null;
  return (
    <button
      type="button"
      class="quiet tab-fold"
      aria-expanded={!isFolded}
      aria-label={`Workstreams of ${name}: ${below}`}
      title={isFolded ? 'Show its workstreams' : 'Hide its workstreams'}
      onClick={() => desk.workstreams.fold(tab.wsId, !isFolded)}
    >
      {below}
      <Icon name="chevron" />
    </button>
  );
}

async function closeTab(tab: Tab, desk: Desk): Promise<void> {
  try {
    await desk.workstreams.close(tab);
  } catch (error) {
    tab.problem.value = wordsOf(error);
  }
}
