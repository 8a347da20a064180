import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useId } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { type Filter, USED_WORDS } from '../../state/rail/rail-filters.ts';
import { Icon } from '../icons.tsx';
import { FilterFields } from './filter-fields.tsx';
import { RailSearch } from './rail-search.tsx';
import { SavedFilterChips } from './saved-filter-chips.tsx';

interface RailHeadProps {
  app: App;
  desk: Desk;
  words: Signal<string>;
  /** Shows and hides the filters. It gets the focus of buttons that disappear when they are pressed. */
  button: RefObject<HTMLButtonElement | null>;
}

/** The search of the list, its filters, and a chip for each filter that is on. */
export function RailHead({ app, desk, words, button }: RailHeadProps) {
  const id = useId();
  const isOpen = useSignal(false);
  const { filters } = desk.rail;
  const chips = toChips(app, desk);
  return (
    <>
      <div class="rail-find">
        <RailSearch words={words} />
        <button
          ref={button}
          type="button"
          class="quiet icon-only"
          aria-label="Filters"
          title="Filters"
          aria-expanded={isOpen.value}
          aria-controls={id}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          <Icon name="sliders" />
        </button>
      </div>
      {isOpen.value && (
        <FilterFields
          app={app}
          desk={desk}
          words={words}
          id={id}
          onClose={() => {
            isOpen.value = false;
            button.current?.focus();
          }}
        />
      )}
      <SavedFilterChips desk={desk} words={words} />
      {chips.length > 0 && (
        <ul class="filter-chips" aria-label="Filters that are on">
          {chips.map(({ label, words: shown, title, without }) => (
            <li key={label}>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove the filter ${label}: ${shown}`}
                title={`${label}: ${title ?? shown}`}
                onClick={() => {
                  filters.choose(without);
                  button.current?.focus();
                }}
              >
                <span>{shown}</span>
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface FilterChip {
  label: string;
  words: string;
  /** Where the words are short. */
  title?: string;
  /** The change that removes it. */
  without: Filter;
}

function toChips(app: App, { owners, rail }: Desk): FilterChip[] {
  const { workdir, modelAlias, userId, used } = rail.filters.chosen.value;
  const chips: FilterChip[] = [];
  const add = (label: string, words: string, without: Filter) => chips.push({ label, words, without });
  if (workdir !== undefined) {
    const title = toVisibleLine(workdir);
    chips.push({ label: 'Folder', words: lastPart(title), title, without: { workdir: undefined } });
  }
  if (modelAlias !== undefined) add('Model', modelAlias, { modelAlias: undefined });
  if (userId !== undefined) add('Person', owners.nameOf(app.who.value, userId), { userId: undefined });
  if (used !== undefined) add('Last used', USED_WORDS[used], { used: undefined });
  return chips;
}

const lastPart = (path: string): string => path.split('/').findLast((part) => part !== '') ?? path;
