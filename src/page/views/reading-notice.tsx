import { useSignal } from '@preact/signals';
import type { Reading } from '../state/reading/reading.ts';

/** Reports that a view could not be read: it waits for the connection, or the person can try again. */
export function ReadingNotice({ of: readings }: { of: readonly Reading[] }) {
  const isRetrying = useSignal(false);
  const failed = readings.filter(({ problem }) => problem.value !== undefined);
  const isWaiting = readings.some((one) => one.isWaiting.value);
  const retry = async (button: HTMLElement) => {
    if (isRetrying.peek()) return;
    const title = button.closest('section')?.querySelector<HTMLElement>('[tabindex="-1"]');
    isRetrying.value = true;
    await Promise.all(failed.map((one) => one.again()));
    const isMended = readings.every(({ problem }) => problem.peek() === undefined);
    if (isMended && document.activeElement === button) title?.focus(); // the button disappears
    isRetrying.value = false;
  };
  return (
    <div class="reading-notice">
      <p class="soft" role="status">
        {isWaiting && 'Not connected. This loads when the connection is back.'}
      </p>
      <p class="problem" role="alert">
        {failed[0]?.problem.value}
      </p>
      {(failed.length > 0 || isRetrying.value) && (
        <button type="button" aria-disabled={isRetrying.value} onClick={(event) => void retry(event.currentTarget)}>
          Try again
        </button>
      )}
    </div>
  );
}
