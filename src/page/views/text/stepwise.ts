import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * How much of `total` to draw: at most `step` more than before, and the rest in the next frames, so that no frame takes
 * long. What is added while all is drawn is drawn at once, if it is no more than a step.
 */
export function useStepwise(total: number, step: number): number {
  const drawn = useRef(0);
  const [, redraw] = useState(0);
  const count = Math.min(total, drawn.current + step);
  useEffect(() => {
    drawn.current = count;
    if (count === total) return;
    const frame = requestAnimationFrame(() => redraw((redraws) => redraws + 1));
    return () => cancelAnimationFrame(frame);
  }, [count, total]);
  return count;
}
