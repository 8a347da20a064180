import { useEffect, useRef, useState } from 'preact/hooks';

interface Undrawn {
  element: { current: HTMLDivElement | null };
  /** In pixels, while the browser skips the element; otherwise undefined. */
  height: number | undefined;
}

/**
 * Tells when the browser skips an element (`content-visibility: auto`): then it is away from the screen, and neither
 * focused nor selected, so it can be empty if it keeps this height. A browser without the event never tells.
 */
export function useUndrawn(): Undrawn {
  const element = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const look = (event: Event) => {
      if (event.target !== current || !('skipped' in event)) return; // of an element in it
      setHeight(event.skipped ? current.offsetHeight : undefined);
    };
    current.addEventListener(CHANGE, look);
    return () => current.removeEventListener(CHANGE, look);
  }, []);
  return { element, height };
}

const CHANGE = 'contentvisibilityautostatechange';
