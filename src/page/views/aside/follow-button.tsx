import type { Signal } from '@preact/signals';

/** Keeps the end of a growing output in view, or stops that. Scrolling up stops it, too. */
export const FollowButton = ({ isAtEnd }: { isAtEnd: Signal<boolean> }) => (
  <>
    <button
      type="button"
      class="quiet"
      aria-pressed={isAtEnd.value}
      onClick={() => {
        isAtEnd.value = !isAtEnd.peek();
      }}
    >
      Follow
    </button>
    <span class="soft" role="status">
      {isAtEnd.value ? '' : 'New output is not shown while you read.'}
    </span>
  </>
);
