import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { App, Desk } from '../../state/app.ts';
import { SavedList, type SavedRow, savedName } from '../../state/saved-list.ts';
import { toMoment } from '../../state/text/moment.ts';
import { walk } from '../arrow-keys.ts';
import { Icon, type IconName } from '../icons.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RenameField } from '../rename-field.tsx';
import { Dialog } from './dialog.tsx';
import { LossQuestion } from './loss-question.tsx';

/** Pause in typing after which the search starts. */
const PAUSE_MS = 150;

/** Lists all stored conversations, to find, reopen, rename or delete one. */
export function SavedDialog({ app, desk, onClose }: { app: App; desk: Desk; onClose(): void }) {
  const nowMs = useMemo(() => app.now(), [app]);
  const list = useMemo(() => new SavedList(desk.client), [desk]);
  const text = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const search = () => void list.search(text.value);
    if (text.value === '') return search();
    return systemTimers.after(PAUSE_MS, search);
  }, [list, text.value]);
  const listing = list.listing.value;
  const { owners } = desk;
  useEffect(() => void owners.read(listing?.rows ?? []), [owners, listing]);
  const open = async (row: SavedRow) => {
    try {
      if (row.loaded) await desk.workstreams.show(row.wsId);
      else await desk.workstreams.create({ resumeWs: row.wsId });
      onClose();
    } catch (error) {
      problem.value = wordsOf(error);
    }
  };
  return (
    <Dialog title="Saved conversations" onClose={onClose}>
      <div class="saved-search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search saved conversations"
          placeholder="Search by name or first message"
          autocomplete="off"
          autofocus
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            event.currentTarget.closest('dialog')?.querySelector<HTMLElement>('.saved-main')?.focus();
          }}
        />
      </div>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <ReadingNotice of={[list.reading]} />
      {listing?.rows.length === 0 && (
        <p class="empty">
          {text.value.trim() === ''
            ? 'No saved conversations yet. A conversation is saved with its first message.'
            : 'No saved conversation has these words in its name or first message. Try one word, or a part of one.'}
        </p>
      )}
      <p class="hidden-text" role="status">
        {listing && toCount(listing.rows.length, listing.hasMore)}
      </p>
      <ul class="saved" onKeyDown={(event) => walk(event, '.saved-main')}>
        {listing?.rows.map((row) => (
          <SavedItem
            key={row.wsId}
            row={row}
            list={list}
            nowMs={nowMs}
            owner={owners.otherThan(app.who.value, row)}
            mayDelete={app.rights.deleteConversations.value}
            onOpen={() => void open(row)}
          />
        ))}
      </ul>
      {listing?.hasMore && <More key={listing.rows.length} onReached={() => void list.more()} />}
    </Dialog>
  );
}

interface SavedItemProps {
  row: SavedRow;
  list: SavedList;
  nowMs: number;
  /** If it is another user’s. */
  owner: string | undefined;
  mayDelete: boolean;
  onOpen(): void;
}

function SavedItem({ row, list, nowMs, owner, mayDelete, onOpen }: SavedItemProps) {
  const mode = useSignal<'shown' | 'renaming' | 'deleting'>('shown');
  const item = useRef<HTMLLIElement>(null);
  const name = savedName(row);
  const show = (next: typeof mode.value) => () => {
    mode.value = next;
  };
  const remove = () => {
    const neighbour = item.current?.nextElementSibling ?? item.current?.previousElementSibling;
    return list.remove(row).finally(() => neighbour?.querySelector<HTMLElement>('.saved-main')?.focus());
  };
  if (mode.value === 'renaming')
    return (
      <li class="saved-row">
        <RenameField name={row.alias ?? ''} save={(changed) => list.rename(row, changed)} onDone={show('shown')} />
      </li>
    );
  if (mode.value === 'deleting')
    return (
      <li class="saved-row" ref={item}>
        <LossQuestion
          name={name}
          loss="and all its messages? This cannot be undone."
          remove={remove}
          onKeep={show('shown')}
        />
      </li>
    );
  return (
    <li class="saved-row">
      <button
        type="button"
        class="quiet saved-main"
        onClick={onOpen}
        onKeyDown={({ key }) => {
          if (key === 'F2') mode.value = 'renaming';
          if (key === 'Delete' && mayDelete) mode.value = 'deleting';
        }}
      >
        <span class="saved-name">
          {name}
          {row.loaded && <span class="tag">open</span>}
        </span>
        <span class="saved-when">{toFacts(row, { nowMs, owner })}</span>
      </button>
      <SavedButton label={`Rename ${name}`} title="Rename (F2)" icon="pencil" onClick={show('renaming')} />
      {mayDelete && <SavedButton label={`Delete ${name}`} title="Delete (Del)" icon="bin" onClick={show('deleting')} />}
    </li>
  );
}

interface SavedButtonProps {
  label: string;
  title: string;
  icon: IconName;
  onClick(): void;
}

const SavedButton = ({ label, title, icon, onClick }: SavedButtonProps) => (
  <button type="button" class="quiet icon-only saved-act" aria-label={label} title={title} onClick={onClick}>
    <Icon name={icon} />
  </button>
);

/** Loads the next page when it is scrolled into view. Keyboard users press the button. */
function More({ onReached }: { onReached(): void }) {
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const { current: button } = element;
    if (!button) return;
    const sight = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) onReached();
    });
    sight.observe(button);
    return () => sight.disconnect();
  }, []);
  return (
    <button type="button" ref={element} class="quiet more" onClick={onReached}>
      Show more
    </button>
  );
}

function toFacts(
  { alias, title, messageCount, updatedMs, visibility }: SavedRow,
  { nowMs, owner }: Pick<SavedItemProps, 'nowMs' | 'owner'>,
): string {
  const count = `${messageCount.toLocaleString()} message${messageCount === 1 ? '' : 's'}`;
  const privacy = visibility === 'private' && 'private';
  const whose = owner !== undefined && `owner: ${owner}`;
  // A long title pushes what follows out of sight.
  return [privacy, whose, alias !== null && title, count, toMoment(updatedMs, nowMs)].filter(Boolean).join(' · ');
}

const toCount = (count: number, hasMore: boolean): string =>
  hasMore ? `${count} conversations, more available` : `${count} conversation${count === 1 ? '' : 's'}`;
