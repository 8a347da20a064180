import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { QueuedMessage } from '../../../../protocol/queue/queue-methods.ts';
import { toAllowedPlace, toDropPlace } from '../../state/composer/queue-order.ts';

/** A message that is being dragged. */
export interface Drag {
  runId: string;
  /** Where it would go now. */
  to: number;
}

interface Started extends Drag {
  element: HTMLElement;
  fromY: number;
  end(): void;
}

/**
 * Drags a message to another place, with a mouse, a pen or a finger. The list is not drawn anew while it lasts: a line shows the place. Escape
 * ends it, and so does the message, if it waits no more.
 */
export function useQueueDrag(waiting: readonly QueuedMessage[], onDrop: (drag: Drag) => void) {
  const shown = useSignal<Drag | undefined>(undefined);
  const started = useRef<Started | undefined>(undefined);
  const queue = useRef(waiting);
  queue.current = waiting;
  const end = (isDropped: boolean) => {
    const drag = started.current;
    if (drag === undefined) return;
    started.current = undefined;
    drag.end();
    shown.value = undefined;
    if (isDropped) onDrop(drag);
  };
  useEffect(() => () => end(false), []);
  const isGone = started.current !== undefined && waiting.every(({ runId }) => runId !== started.current?.runId);
  useEffect(() => {
    if (isGone) end(true); // says that it waits no more
  }, [isGone]);

  const start = (event: PointerEvent, runId: string) => {
    const element = event.currentTarget instanceof HTMLElement ? event.currentTarget.closest('li') : null;
    if (event.button !== 0 || element === null || started.current !== undefined) return;
    event.preventDefault(); // selects no text
    const gone = new AbortController();
    const list = element.parentElement;
    const scrolled = list?.scrollTop ?? 0;
    const move = ({ pointerId, clientY }: PointerEvent) => {
      const drag = started.current;
      if (pointerId !== event.pointerId || drag === undefined) return;
      scrollAtEdge(list, clientY);
      element.style.transform = `translateY(${clientY - drag.fromY + (list?.scrollTop ?? 0) - scrolled}px)`;
      drag.to = placeAt(element, { queue: queue.current, runId, y: clientY }) ?? drag.to;
      if (shown.peek()?.to !== drag.to) shown.value = { runId, to: drag.to };
    };
    const finish = (isDropped: boolean) => (ended: PointerEvent) => {
      if (ended.pointerId === event.pointerId) end(isDropped);
    };
    const to = queue.current.findIndex((one) => one.runId === runId);
    const clean = () => {
      gone.abort();
      element.style.transform = '';
    };
    started.current = { runId, to, element, fromY: event.clientY, end: clean };
    shown.value = { runId, to };
    const { signal } = gone;
    window.addEventListener('pointermove', move, { signal });
    window.addEventListener('pointerup', finish(true), { signal });
    window.addEventListener('pointercancel', finish(false), { signal });
    window.addEventListener('keydown', (key) => key.key === 'Escape' && stop(key), { signal, capture: true });
    const stop = (key: KeyboardEvent) => {
      key.preventDefault();
      key.stopPropagation();
      end(false);
    };
  };
  return { drag: shown.value, start };
}

/** A long list moves on while a message is held at its edge. */
function scrollAtEdge(list: HTMLElement | null, y: number): void {
  if (list === null) return;
  const { top, bottom } = list.getBoundingClientRect();
  if (y < top + EDGE_PX) list.scrollTop -= EDGE_PX;
  if (y > bottom - EDGE_PX) list.scrollTop += EDGE_PX;
}

const EDGE_PX = 12;

interface Pointed {
  queue: readonly QueuedMessage[];
  runId: string;
  y: number;
}

/** The heights are those of the messages where they stand in the list, so the dragged one counts without its shift. */
function placeAt(element: HTMLElement, { queue, runId, y }: Pointed): number | undefined {
  const items = [...(element.parentElement?.querySelectorAll<HTMLElement>('li[data-run]') ?? [])];
  const middles = items.map((item) => {
    const { top, height } = item.getBoundingClientRect();
    return top + height / 2;
  });
  return toAllowedPlace(queue, runId, toDropPlace(middles, items.indexOf(element), y));
}
