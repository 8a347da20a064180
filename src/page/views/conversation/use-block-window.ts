import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  charsOfBlock,
  MAX_BLOCKS,
  type Span,
  STEP_CHARS,
  spanAt,
  stepTowards,
  toTops,
} from '../../state/conversation/block-window.ts';
import type { Block } from '../../state/conversation/blocks.ts';
import { Following } from './following.ts';

export interface BlockWindow {
  scroller: { current: HTMLDivElement | null };
  content: { current: HTMLDivElement | null };
  /** The empty element directly before the first drawn block; its height is `above`. */
  space: { current: HTMLDivElement | null };
  following: Following;
  /** The blocks to draw. */
  drawn: readonly Block[];
  /** Where they are among all. */
  span: Span;
  /** The top of each block in pixels. */
  tops: readonly number[];
  /** Draws the block with this index, and some around it. */
  draw(index: number): void;
  /** Pixels that stand for the blocks before and after them. */
  above: number;
  below: number;
}

/** Number of screens that are also drawn before and after the visible one. */
const AHEAD = 1.2;

/** Draws only the blocks of a long conversation that are on or near the screen, and keeps the reading position. */
export function useBlockWindow(blocks: readonly Block[], onNearStart: () => void): BlockWindow {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const following = useMemo(() => new Following(), []);
  const heights = useMemo(() => new Map<string, number>(), []);
  const { span, choose } = useSpan(blocks, following.isFollowing.value);
  const tops = toTops(blocks, heights);
  const latest = useRef({ blocks, span, onNearStart });
  latest.current = { blocks, span, onNearStart };

  const hadFocus = useRef(false);
  const look = useCallback(() => {
    const { current: view } = scroller;
    const { current: start } = space;
    const shown = latest.current;
    if (!view || !start || shown.blocks.length === 0) return;
    hadFocus.current = view.contains(document.activeElement);
    measureDrawn(start, shown.blocks.slice(shown.span.first, shown.span.last), heights);
    const all = toTops(shown.blocks, heights);
    const origin = start.getBoundingClientRect().top - view.getBoundingClientRect().top;
    const next = nextSpan(all, shown, { from: -origin, height: view.clientHeight });
    if (next.first !== shown.span.first || next.last !== shown.span.last) choose(toPlace(shown.blocks, next));
    if (-origin < AHEAD * view.clientHeight) shown.onNearStart();
  }, []);

  const soon = useMemo(() => oncePerFrame(look), []);
  useLayoutEffect(() => {
    if (!scroller.current || !content.current) return;
    following.onMove = soon.run;
    const detach = following.attach(scroller.current, content.current);
    return () => {
      detach();
      soon.cancel();
    };
  }, []);
  useLayoutEffect(() => {
    following.settle();
    // If the focused block was removed, the scroller takes the focus, so that scroll keys keep working.
    if (hadFocus.current && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
  }, [blocks, span.first, span.last]);
  useLayoutEffect(() => {
    // Blocks that one step leaves out are drawn in the next frames, so that no frame takes long.
    soon.run();
  }, [blocks.length, span.first, span.last]);

  const end = tops[blocks.length] ?? 0;
  return {
    scroller,
    content,
    space,
    following,
    drawn: blocks.slice(span.first, span.last),
    span,
    tops,
    draw: (index) => choose(toPlace(blocks, spanAround(blocks, index))),
    above: tops[span.first] ?? 0,
    below: end - (tops[span.last] ?? end),
  };
}

/** What is drawn: what was chosen last, and while the end is followed, also what was appended since. */
function useSpan(blocks: readonly Block[], isFollowing: boolean): { span: Span; choose(place: Place): void } {
  const [chosen, setChosen] = useState<Place>(() => toPlace(blocks, tailOf(blocks)));
  /** What was drawn while the end was followed. After that, the same blocks stay, with what a person opened in them. */
  const followed = useRef<Place | undefined>(undefined);
  const place = findSpan(blocks, followed.current ?? chosen);
  const span = isFollowing ? toEnd(place, blocks) : place;
  if (isFollowing) followed.current = toPlace(blocks, span);
  const choose = (next: Place) => {
    followed.current = undefined;
    setChosen(next);
  };
  return { span, choose };
}

/** Runs the work at most once per frame, in the next frame. */
function oncePerFrame(work: () => void): { run(): void; cancel(): void } {
  let frame: number | undefined;
  return {
    run() {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        work();
      });
    },
    cancel() {
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}

/** A span by the key of its first block: it stays the same when older blocks come before it. */
interface Place extends Span {
  key: string | undefined;
}

const toPlace = (blocks: readonly Block[], span: Span): Place => ({ ...span, key: blocks[span.first]?.key });

/** The last blocks: as few as are long, so that the first frame comes soon. */
function tailOf(blocks: readonly Block[]): Span {
  const { length } = blocks;
  let first = length;
  let chars = 0;
  while (first > 0 && length - first < FIRST_BLOCKS && chars < STEP_CHARS) {
    first -= 1;
    chars += charsOfBlock(blocks[first]);
  }
  return { first, last: length };
}
const spanAround = ({ length }: readonly Block[], index: number): Span => ({
  first: Math.max(0, index - 1),
  last: Math.min(length, index + FIRST_BLOCKS),
});
/** Number of blocks drawn in the first frame; the next frames fill the screen. */
const FIRST_BLOCKS = 5;
/** More blocks than are ever appended between two frames. */
const LEAP_BLOCKS = 12;

function findSpan(blocks: readonly Block[], { first, last, key }: Place): Span {
  const isHere = blocks[first]?.key === key;
  const at = isHere ? first : blocks.findIndex((block) => block.key === key);
  if (at < 0) return tailOf(blocks); // another conversation, or a cleared one
  return { first: at, last: Math.min(blocks.length, at + last - first) };
}

/** Extends the span to appended blocks. After a leap to the end, only the end is drawn. */
function toEnd({ first, last }: Span, blocks: readonly Block[]): Span {
  if (blocks.length - last > LEAP_BLOCKS) return tailOf(blocks);
  return { first: Math.max(first, blocks.length - MAX_BLOCKS), last: blocks.length };
}

function nextSpan(
  tops: readonly number[],
  { blocks, span }: { blocks: readonly Block[]; span: Span },
  { from, height }: { from: number; height: number },
): Span {
  const visible = spanAt(tops, from, from + height);
  const wanted = spanAt(tops, from - AHEAD * height, from + (1 + AHEAD) * height);
  const slack = spanAt(tops, from - 2 * AHEAD * height, from + (1 + 2 * AHEAD) * height);
  // Blocks that are only slightly too far away stay drawn.
  const kept = {
    first: Math.max(slack.first, Math.min(wanted.first, span.first)),
    last: Math.min(slack.last, Math.max(wanted.last, span.last)),
  };
  return stepTowards(span, { visible, wanted: kept }, (index) => charsOfBlock(blocks[index]));
}

function measureDrawn(space: HTMLElement, drawn: readonly Block[], heights: Map<string, number>): void {
  let element = space.nextElementSibling;
  let top = element?.getBoundingClientRect().top ?? 0;
  for (const { key } of drawn) {
    const next: Element | null = element?.nextElementSibling ?? null;
    if (!next) return;
    const { top: nextTop } = next.getBoundingClientRect();
    heights.set(key, nextTop - top);
    element = next;
    top = nextTop;
  }
}
