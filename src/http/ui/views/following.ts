import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks';

interface Following {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  /** The end is in view and stays in view while the content grows. */
  isFollowing: Signal<boolean>;
  jump(): void;
  /** What is in view stays in view when the content next grows at its top. */
  holdPlace(): void;
}

/** How far from the end still counts as reading the end. */
const NEAR_PX = 48;
const UPWARD_KEYS = ['ArrowUp', 'PageUp', 'Home'];

/** Keeps the end of a growing conversation in view, until a person scrolls away from it. */
export function useFollowing(): Following {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isFollowing = useSignal(true);
  const heldFromEnd = useRef<number | undefined>(undefined);

  useLayoutEffect(() => {
    const { current: view } = scroller;
    const { current: text } = content;
    if (!view || !text) return;
    let seen = measure(view);
    const onScroll = () => {
      const now = measure(view);
      const isNearEnd = now.scrollHeight - now.scrollTop - now.clientHeight < NEAR_PX;
      const isResized = now.scrollHeight !== seen.scrollHeight || now.clientHeight !== seen.clientHeight;
      if (isNearEnd && now.scrollTop >= seen.scrollTop) isFollowing.value = true;
      // A change of size moves the view too and is answered by onGrowth; only a person moves it up by itself.
      else if (!isResized && now.scrollTop < seen.scrollTop) isFollowing.value = false;
      if (!isResized) seen = now;
    };
    // Told at once: what streams in would otherwise pull the view back before the first pixel of the move is seen.
    const onLeaving = (event: WheelEvent | KeyboardEvent) => {
      const isUp = 'deltaY' in event ? event.deltaY < 0 : UPWARD_KEYS.includes(event.key);
      if (isUp && view.scrollTop > 0 && !isForInside(event.target, view)) isFollowing.value = false;
    };
    const onGrowth = () => {
      if (heldFromEnd.current !== undefined) {
        view.scrollTop = view.scrollHeight - heldFromEnd.current;
        heldFromEnd.current = undefined;
      } else if (isFollowing.peek()) view.scrollTop = view.scrollHeight;
      seen = measure(view);
    };
    const growth = new ResizeObserver(onGrowth);
    growth.observe(text);
    growth.observe(view);
    view.addEventListener('scroll', onScroll, { passive: true });
    view.addEventListener('wheel', onLeaving, { passive: true });
    view.addEventListener('keydown', onLeaving);
    return () => {
      growth.disconnect();
      view.removeEventListener('scroll', onScroll);
      view.removeEventListener('wheel', onLeaving);
      view.removeEventListener('keydown', onLeaving);
    };
  }, []);

  return {
    scroller,
    content,
    isFollowing,
    jump: useCallback(() => {
      isFollowing.value = true;
      scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
    }, []),
    holdPlace() {
      const { current: view } = scroller;
      if (view) heldFromEnd.current = view.scrollHeight - view.scrollTop;
    },
  };
}

const measure = ({ scrollTop, scrollHeight, clientHeight }: Element) => ({ scrollTop, scrollHeight, clientHeight });

/** A field, or a box with its own way up (output, a long preview), takes the move for itself. */
function isForInside(target: EventTarget | null, view: Element): boolean {
  if (target instanceof HTMLInputElement) return true;
  for (let at = target instanceof Element ? target : null; at && at !== view; at = at.parentElement) {
    if (at.scrollTop > 0) return true;
  }
  return false;
}
