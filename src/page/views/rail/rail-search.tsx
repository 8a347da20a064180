import type { Signal } from '@preact/signals';
import { Icon } from '../icons.tsx';

/** Narrows the list. ArrowDown goes to its first row, Escape empties the field. */
export const RailSearch = ({ words }: { words: Signal<string> }) => (
  <search class="rail-search">
    <Icon name="search" />
    <input
      type="search"
      aria-label="Search workstreams"
      placeholder="Search"
      autocomplete="off"
      value={words.value}
      onInput={({ currentTarget }) => {
        words.value = currentTarget.value;
      }}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') {
          event.preventDefault();
          event.currentTarget.closest('.rail')?.querySelector<HTMLElement>('.tabs .tab-main')?.focus();
        }
        if (event.key !== 'Escape' || event.isComposing || words.peek() === '') return;
        event.preventDefault();
        words.value = '';
      }}
    />
  </search>
);
