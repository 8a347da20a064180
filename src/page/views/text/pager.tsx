import type { Signal } from '@preact/signals';
import { Icon } from '../icons.tsx';

interface PagerProps {
  /** The page that is shown, from 0. */
  page: Signal<number>;
  size: number;
  total: number;
}

/** Shows the page number, with buttons to go to other pages. */
export function Pager({ page, size, total }: PagerProps) {
  const last = Math.max(0, Math.ceil(total / size) - 1);
  const go = (to: number) => () => {
    page.value = Math.min(last, Math.max(0, to));
  };
  return (
    <nav class="pager" aria-label="Pages">
      <span>{`Page ${(page.value + 1).toLocaleString()} of ${(last + 1).toLocaleString()}`}</span>
      <button type="button" class="quiet icon-only" aria-label="First page" disabled={page.value === 0} onClick={go(0)}>
        <Icon name="first" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Previous page"
        disabled={page.value === 0}
        onClick={go(page.value - 1)}
      >
        <Icon name="previous" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Next page"
        disabled={page.value === last}
        onClick={go(page.value + 1)}
      >
        <Icon name="chevron" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Last page"
        disabled={page.value === last}
        onClick={go(last)}
      >
        <Icon name="last" />
      </button>
    </nav>
  );
}
