import { useLayoutEffect } from 'preact/hooks';
import { systemTimers } from '../../../protocol/client/timers.ts';

/** Within this time a person cannot have seen what is now under their finger, or presses the same place twice. */
const GUARD_MS = 300;

/**
 * Marks an element as `data-guarded` for a moment when it appears, when it may have moved, and after a press elsewhere: what
 * is under the finger now was not there when the person aimed. Keys are not affected. `step`: a value that changes when
 * other buttons take the place of those before.
 */
export function usePressGuard(guarded: { current: HTMLElement | null }, step: unknown): void {
  useLayoutEffect(() => {
    const element = guarded.current;
    if (!element) return;
    let cancel = (): void => undefined;
    const guard = () => {
      cancel();
      element.dataset.guarded = '';
      cancel = systemTimers.after(GUARD_MS, () => element.removeAttribute('data-guarded'));
    };
    guard();
    const moves = new ResizeObserver(guard);
    for (const around of [element, element.closest('.column'), element.closest('.transcript')])
      if (around) moves.observe(around);
    const onPress = (event: PointerEvent) => {
      if (!isWithin(element.getBoundingClientRect(), event)) guard();
    };
    document.addEventListener('pointerdown', onPress, { capture: true });
    return () => {
      cancel();
      moves.disconnect();
      document.removeEventListener('pointerdown', onPress, { capture: true });
    };
  }, [guarded, step]);
}

/** By place and not by target: presses on a guarded button reach what is behind it. */
const isWithin = ({ left, right, top, bottom }: DOMRect, { clientX: x, clientY: y }: PointerEvent): boolean =>
  x >= left && x <= right && y >= top && y <= bottom;
