import type { Signal } from '@preact/signals';
import { lastPage } from '../../state/text/last-page.ts';
import { Icon } from '../icons.tsx';

interface PagerProps {
  /** The page that is shown, from 0; if it is past the last one, that one. */
  page: Signal<number>;
  size: number;
  total: number;
}

/** Shows the page number, with buttons to go to other pages. */
export function Pager({ page, size, total }: PagerProps) {
  const last = lastPage(total, size);
  const current = Math.min(page.value, last); // there may be fewer than before
  const go = (to: number) => () => {
    page.value = Math.min(last, Math.max(0, to));
  };
  return (
    <nav class="pager" aria-label="Pages">
      <span>{`Page ${(current + 1).toLocaleString()} of ${(last + 1).toLocaleString()}`}</span>
      <button type="button" class="quiet icon-only" aria-label="First page" disabled={current === 0} onClick={go(0)}>
        <Icon name="first" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Previous page"
        disabled={current === 0}
        onClick={go(current - 1)}
      >
        <Icon name="previous" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Next page"
        disabled={current === last}
        onClick={go(current + 1)}
      >
        <Icon name="chevron" />
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Last page"
        disabled={current === last}
        onClick={go(last)}
      >
        <Icon name="last" />
      </button>
    </nav>
  );
}
