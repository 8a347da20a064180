import { useLayoutEffect, useRef } from 'preact/hooks';
import { spanAt } from '../../state/conversation/block-window.ts';
import type { Block } from '../../state/conversation/blocks.ts';
import { findGoal } from '../../state/finding/goal.ts';
import type { Tab } from '../../state/tab.ts';
import type { BlockWindow } from '../conversation/use-block-window.ts';
import { rangesIn } from './marks.ts';

interface GoalPort {
  window: BlockWindow;
  /** All blocks, and those that are not behind a summary. */
  blocks: readonly Block[];
  shown: readonly Block[];
  truncated: boolean;
  /** Shows the blocks behind the summary. */
  unfold(): void;
  loadEarlier(): void;
}

/** Shows what a person wants to read: loads it, draws it, and brings it into view. */
export function useGoal(tab: Tab, { window, blocks, shown, truncated, unfold, loadEarlier }: GoalPort): void {
  /** The key of the block that is brought into view as soon as it is drawn. */
  const aim = useRef<string>(undefined);
  const goal = tab.goal.value;
  useLayoutEffect(() => {
    if (goal === undefined) return;
    const here = shown[placeOf(window)];
    const at = here === undefined ? blocks.length : blocks.indexOf(here);
    const found = findGoal(blocks, goal, { at, truncated });
    if (found === 'earlier') return loadEarlier(); // this effect runs again with the older blocks
    if (found !== undefined && !shown.includes(found)) return unfold(); // as here
    tab.goal.value = undefined;
    if (found === undefined) return;
    aim.current = found.key;
    window.following.isFollowing.value = false;
    window.draw(shown.indexOf(found));
  }, [goal, blocks, shown]);
  useLayoutEffect(() => {
    const element = aim.current === undefined ? undefined : findElement(window, shown, aim.current);
    if (!element) return;
    aim.current = undefined;
    const [range] = rangesIn(element, tab.search.peek() ?? '', 1);
    window.following.hold(element, range);
    if (tab.search.peek() === undefined) takeFocus(element);
  });
}

/** The index of the block that is read: the focused one, at the end the one after the last, else the one at the upper edge. */
function placeOf({ scroller, space, span, tops, following }: BlockWindow): number {
  const { current: view } = scroller;
  const { current: start } = space;
  if (!view || !start) return 0;
  const children = [...(start.parentElement?.children ?? [])];
  const focused = children.findIndex((child) => child.contains(document.activeElement));
  if (focused >= 0) return span.first + focused - children.indexOf(start) - 1;
  if (following.isFollowing.peek()) return tops.length;
  const from = view.getBoundingClientRect().top - start.getBoundingClientRect().top;
  return spanAt(tops, from + EDGE_PX, from + EDGE_PX).first;
}

/** Below the place where a block is held. */
const EDGE_PX = 24;

function findElement({ space, span }: BlockWindow, shown: readonly Block[], key: string): Element | undefined {
  const index = shown.findIndex((block) => block.key === key);
  if (index < span.first || index >= span.last) return undefined;
  let element: Element | null | undefined = space.current;
  for (let steps = span.first; steps <= index && element; steps += 1) element = element.nextElementSibling;
  return element ?? undefined;
}

/** So that keys and screen readers go on from there. */
function takeFocus(element: Element): void {
  if (!(element instanceof HTMLElement)) return;
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
