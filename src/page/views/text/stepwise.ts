import { useEffect, useState } from 'preact/hooks';

/**
 * How much of `total` to draw: `step` more with each frame, so that no frame takes long. Once all is drawn, additions
 * are drawn at once.
 */
export function useStepwise(total: number, step: number): number {
  const [limit, setLimit] = useState(step);
  const isBehind = total > limit;
  useEffect(() => {
    if (!isBehind) setLimit(Number.POSITIVE_INFINITY);
    if (!isBehind) return;
    const frame = requestAnimationFrame(() => setLimit(limit + step));
    return () => cancelAnimationFrame(frame);
  }, [isBehind, limit]);
  return Math.min(limit, total);
}
