import type { Signal } from '@preact/signals';
import type { Desk } from '../../state/app.ts';
import { isSameSearch } from '../../state/rail/saved-filters.ts';
import { useOtherTabs } from '../use-other-tabs.ts';

/** The saved filters: one click applies one, another takes it off. */
export function SavedFilterChips({ desk, words }: { desk: Desk; words: Signal<string> }) {
  const { filters, savedFilters } = desk.rail;
  useOtherTabs(savedFilters);
  const list = savedFilters.current.value;
  if (list.kind === 'unreadable' || list.filters.length === 0) return null;
  const now = { filter: filters.chosen.value, words: words.value };
  return (
    <ul class="filter-chips saved-filters" aria-label="Saved filters">
      {list.filters.map((saved) => {
        const isOn = isSameSearch(saved, now);
        return (
          <li key={saved.name}>
            <button
              type="button"
              class="quiet"
              aria-pressed={isOn}
              onClick={() => {
                filters.replace(isOn ? {} : saved.filter);
                words.value = isOn ? '' : saved.words;
              }}
            >
              <span>{saved.name}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
