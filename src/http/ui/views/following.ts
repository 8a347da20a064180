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
    let lastTop = view.scrollTop;
    const onScroll = () => {
      const isNearEnd = view.scrollHeight - view.scrollTop - view.clientHeight < NEAR_PX;
      // Only moving up is leaving: content that grows between a scroll and its event also widens the distance.
      if (isNearEnd) isFollowing.value = true;
      else if (view.scrollTop < lastTop) isFollowing.value = false;
      lastTop = view.scrollTop;
    };
    const onGrowth = () => {
      if (heldFromEnd.current !== undefined) {
        view.scrollTop = view.scrollHeight - heldFromEnd.current;
        heldFromEnd.current = undefined;
      } else if (isFollowing.peek()) view.scrollTop = view.scrollHeight;
      lastTop = view.scrollTop;
    };
    const growth = new ResizeObserver(onGrowth);
    growth.observe(text);
    growth.observe(view);
    view.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      growth.disconnect();
      view.removeEventListener('scroll', onScroll);
    };
  }, []);

  return {
    scroller,
    content,
    isFollowing,
    jump: useCallback(() => scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: 'smooth' }), []),
    holdPlace() {
      const { current: view } = scroller;
      if (view) heldFromEnd.current = view.scrollHeight - view.scrollTop;
    },
  };
}
