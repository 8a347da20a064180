import { useLayoutEffect, useState } from 'preact/hooks';
import type { Room } from '../../../../protocol/text/text-ends.ts';

/** Rows per call to try, from most to least space. */
const ROWS = [40, 30, 24, 19, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2] as const;
const LAST = ROWS.length - 1;
/** Width of margins and borders, which cannot hold text. */
const EDGES_PX = 56;

interface RoomInFrame {
  room: Room;
  /** Even the fewest rows do not fit: the frame scrolls. */
  isOver: boolean;
}

/**
 * Finds how much of each call a frame can show without scrolling. It tries fewer and fewer rows instead of calculating,
 * as only the browser knows how high a line gets. `content` is inside `frame`; `ruler` is ten columns wide.
 */
export function useRoom(options: {
  frame: { current: HTMLElement | null };
  content: { current: HTMLElement | null };
  ruler: { current: HTMLElement | null };
  isActive: boolean;
}): RoomInFrame {
  const { frame, content, ruler, isActive } = options;
  const [step, setStep] = useState(0);
  const [columns, setColumns] = useState(80);
  const [isOver, setIsOver] = useState(false);
  const fit = () => {
    if (!frame.current || !isActive) return;
    const overflows = frame.current.scrollHeight > frame.current.clientHeight + 1;
    if (overflows && step < LAST) setStep(step + 1);
    else setIsOver(overflows);
  };
  useLayoutEffect(() => {
    const measure = () => {
      setColumns(Math.max(20, countColumns(frame.current, ruler.current)));
      setStep(0);
      setIsOver(false);
    };
    measure();
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  useLayoutEffect(() => {
    fit();
    if (!content.current || !frame.current) return;
    const sizes = new ResizeObserver(fit);
    sizes.observe(content.current);
    sizes.observe(frame.current); // the buttons below may take up more space
    return () => sizes.disconnect();
  }, [step, columns, isActive]);
  return { room: { rows: ROWS[step] ?? 2, columns }, isOver };
}

function countColumns(frame: HTMLElement | null, ruler: HTMLElement | null): number {
  if (!frame || !ruler) return 0;
  return Math.floor((frame.clientWidth - EDGES_PX) / (ruler.getBoundingClientRect().width / 10));
}
