import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import { isSearch, MAX_NAME_CHARS, type SavedFilter } from '../../state/rail/saved-filters.ts';
import css from '../../styles/saved-filters.css?inline';
import { Icon } from '../icons.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { RenameField } from '../rename-field.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

adoptStyles(css);

interface SavedFilterListProps {
  desk: Desk;
  words: Signal<string>;
}

/** Saves the filters that are on under a name, and renames and removes saved ones. */
export function SavedFilterList({ desk, words }: SavedFilterListProps) {
  const { filters, savedFilters } = desk.rail;
  const removed = useSignal<SavedFilter | undefined>(undefined);
  const said = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  /** Its row is another one, and takes the focus. */
  const renamed = useRef('');
  const list = savedFilters.current.value;
  if (list.kind === 'unreadable')
    return (
      <div class="saved-filter-notice" role="alert">
        <span>The saved filters of this browser cannot be read.</span>
        <button type="button" onClick={() => savedFilters.startAnew()}>
          Begin a new list
        </button>
      </div>
    );
  const tell = (failure: string | undefined, words: string) => {
    problem.value = failure;
    said.value = failure === undefined ? words : '';
    return failure;
  };
  const save = (name: string) =>
    tell(savedFilters.save(name, { filter: filters.chosen.peek(), words: words.peek() }), `“${name.trim()}” saved.`);
  const remove = (saved: SavedFilter) => {
    if (tell(savedFilters.remove(saved.name), '') === undefined) removed.value = saved;
  };
  const undo = (saved: SavedFilter) => {
    if (tell(savedFilters.save(saved.name, saved), `“${saved.name}” is back.`) === undefined) removed.value = undefined;
  };
  return (
    <>
      {isSearch({ filter: filters.chosen.value, words: words.value }) && <SaveForm save={save} />}
      {list.filters.length > 0 && (
        <ul class="saved-filter-rows" aria-label="Change saved filters">
          {list.filters.map((saved) => (
            <Row
              key={saved.name}
              name={saved.name}
              takesFocus={saved.name === renamed.current}
              rename={(name) => {
                renamed.current = name;
                return tell(savedFilters.rename(saved.name, name), `Renamed to “${name}”.`);
              }}
              remove={() => remove(saved)}
            />
          ))}
        </ul>
      )}
      {removed.value !== undefined && <Removed key={removed.value.name} saved={removed.value} undo={undo} />}
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <p class="hidden-text" role="status">
        {said.value}
      </p>
    </>
  );
}

function SaveForm({ save }: { save(name: string): string | undefined }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <form
      class="saved-filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (field.current && save(field.current.value) === undefined) field.current.value = '';
      }}
    >
      <input
        ref={field}
        aria-label="Name for these filters"
        placeholder="Save these filters as…"
        maxLength={MAX_NAME_CHARS}
        autocomplete="off"
      />
      <button type="submit">Save</button>
    </form>
  );
}

interface RowProps {
  name: string;
  takesFocus: boolean;
  rename(name: string): string | undefined;
  remove(): void;
}

function Row({ name, takesFocus, rename, remove }: RowProps) {
  const isRenaming = useSignal(false);
  const element = useFocusAfter(isRenaming.value ? 'renaming' : 'shown');
  useLayoutEffect(() => {
    if (takesFocus) element.current?.querySelector('button')?.focus();
  }, []);
  return (
    <li ref={element}>
      {isRenaming.value ? (
        <RenameField
          name={name}
          placeholder=""
          save={async (wanted) => rename(wanted)}
          onDone={() => {
            isRenaming.value = false;
          }}
        />
      ) : (
        <>
          <span>{name}</span>
          <button
            type="button"
            class="quiet icon-only"
            data-opens="renaming"
            aria-label={`Rename ${name}`}
            title="Rename"
            onClick={() => {
              isRenaming.value = true;
            }}
          >
            <Icon name="pencil" />
          </button>
          <button type="button" class="quiet icon-only" aria-label={`Remove ${name}`} title="Remove" onClick={remove}>
            <Icon name="bin" />
          </button>
        </>
      )}
    </li>
  );
}

/** Takes the focus from the button that is gone. */
function Removed({ saved, undo }: { saved: SavedFilter; undo(saved: SavedFilter): void }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), []);
  return (
    <div class="saved-filter-notice">
      <span role="status">“{saved.name}” removed</span>
      <button ref={button} type="button" onClick={() => undo(saved)}>
        Undo
      </button>
    </div>
  );
}
