import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { mentionBefore } from '../../../../protocol/mentions/mentions.ts';
import type { Desk } from '../../state/app.ts';
import {
  findSuggestions,
  isAboutCommands,
  isAboutModels,
  isTyped,
  type Known,
  resumeSearch,
  type Suggestion,
} from '../../state/commands.ts';
import { savedName } from '../../state/saved-list.ts';
import type { Tab } from '../../state/tab.ts';
import { completeMention } from '../../state/workspace/file-mentions.ts';

interface Suggestions {
  offered: readonly Suggestion[];
  /** Index of the suggestion that Enter or Tab inserts. */
  active: number;
  take(suggestion: Suggestion): void;
  /** Returns whether the list has handled the key. */
  onKeyDown(event: KeyboardEvent): boolean;
}

const PAUSE_MS = 150;
const MOST_SAVED = 8;

/** Suggestions for a draft that begins with a slash, and for a file after an `@`. Escape hides them until the draft changes. */
export function useSuggestions({ desk, tab }: { desk: Desk; tab: Tab }): Suggestions {
  const chosen = useSignal({ draft: '', index: 0, isDismissed: false });
  const saved = useSaved(desk, tab.draft);
  const models = useModels(desk, tab.draft);
  const commands = useCommands(desk, tab);
  const draft = tab.draft.value;
  const files = useFiles(desk, tab, mentionBefore(draft, cursorIn(draft)));
  const { index, isDismissed } = chosen.value.draft === draft ? chosen.value : { index: 0, isDismissed: false };
  const known = { models, saved: saved.value, commands: commands.value };
  const found = [...findSuggestions(draft, known), ...completeMention(draft, cursorIn(draft), files.value)];
  const offered = isDismissed ? [] : found;
  const active = Math.min(index, Math.max(0, offered.length - 1));
  const take = (suggestion: Suggestion) => {
    tab.draft.value = suggestion.draft;
    const field = messageField();
    if (!field) return;
    field.focus();
    field.value = suggestion.draft; // the cursor can be placed in it at once
    if (suggestion.cursor !== undefined) field.setSelectionRange(suggestion.cursor, suggestion.cursor);
  };
  const onKey: Record<string, () => void> = {
    ArrowDown: () => {
      chosen.value = { draft, index: (active + 1) % offered.length, isDismissed: false };
    },
    ArrowUp: () => {
      chosen.value = { draft, index: (active - 1 + offered.length) % offered.length, isDismissed: false };
    },
    Escape: () => {
      chosen.value = { draft, index: 0, isDismissed: true };
    },
    Enter: () => take(offered[active] ?? { draft, label: '', hint: '' }),
    Tab: () => take(offered[active] ?? { draft, label: '', hint: '' }),
  };
  return {
    offered,
    active,
    take,
    onKeyDown(event) {
      const offer = offered[active];
      if (event.key === 'Enter' && offer && isTyped(offer, draft)) return false; // nothing is missing: it is sent
      const act = offered.length > 0 && !isModified(event) && !event.isComposing ? onKey[event.key] : undefined;
      if (!act) return false;
      event.preventDefault();
      act();
      return true;
    },
  };
}

const messageField = (): HTMLTextAreaElement | undefined => {
  const field = document.getElementById('message');
  return field instanceof HTMLTextAreaElement ? field : undefined;
};

/** Where the person types; the end while the field does not have the draft yet. */
function cursorIn(draft: string): number {
  const field = messageField();
  return field?.value === draft ? field.selectionStart : draft.length;
}

const isModified = ({ shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent) => shiftKey || altKey || ctrlKey || metaKey;

/** The commands of the project, read whenever a draft starts to name one. */
function useCommands(desk: Desk, { draft, wsId }: Tab): ReadonlySignal<Known['commands']> {
  const found = useSignal<Known['commands']>([]);
  const isAsked = isAboutCommands(draft.value);
  useEffect(() => {
    if (!isAsked) return;
    desk.client.call('workstream.commands', { wsId }).then(
      ({ commands }) => {
        found.value = commands;
      },
      () => undefined, // without an answer there is nothing to offer
    );
  }, [desk, isAsked, wsId, found]);
  return found;
}

/** The models that the daemon knows, read whenever a draft starts to name one. */
function useModels({ models }: Desk, draft: ReadonlySignal<string>): readonly string[] {
  const isAsked = isAboutModels(draft.value);
  useEffect(() => {
    if (isAsked) void models.refresh();
  }, [models, isAsked]);
  return models.rows.value.map(({ id }) => id);
}

/** Conversations that match the argument of `/resume`, read after a pause in typing. */
function useSaved(desk: Desk, draft: ReadonlySignal<string>): ReadonlySignal<Known['saved']> {
  const found = useSignal<Known['saved']>([]);
  const search = resumeSearch(draft.value);
  useEffect(() => {
    if (search === undefined) return;
    let isCurrent = true;
    const read = async () => {
      const { workstreams } = await desk.client.call('workstream.saved', { search, limit: MOST_SAVED });
      if (!isCurrent) return;
      found.value = workstreams.map((row) => ({ name: row.alias ?? row.wsId, title: savedName(row) }));
    };
    const cancel = systemTimers.after(PAUSE_MS, () => {
      read().catch(() => undefined); // without an answer there is nothing to offer
    });
    return () => {
      isCurrent = false;
      cancel();
    };
  }, [desk, search, found]);
  return found;
}

const MOST_FILES = 8;

/** Files that match the mention that is being typed, read after a pause in typing. */
function useFiles(desk: Desk, { wsId }: Tab, query: string | undefined): ReadonlySignal<readonly string[]> {
  const found = useSignal<readonly string[]>([]);
  useEffect(() => {
    if (query === undefined) {
      found.value = [];
      return;
    }
    let isCurrent = true;
    const read = async () => {
      const { paths } = await desk.client.call('file.find', { wsId, query, limit: MOST_FILES });
      if (isCurrent) found.value = paths;
    };
    const cancel = systemTimers.after(PAUSE_MS, () => {
      read().catch(() => undefined); // without an answer there is nothing to offer
    });
    return () => {
      isCurrent = false;
      cancel();
    };
  }, [desk, wsId, query, found]);
  return found;
}
