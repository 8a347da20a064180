import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * After a form in a row of a list closes, returns the focus to the button that opened it (`data-opens` has the mode),
 * unless the focus is elsewhere.
 */
export function useFocusAfter<E extends HTMLElement = HTMLLIElement>(mode: string) {
  const element = useRef<E>(null);
  const before = useRef(mode);
  useLayoutEffect(() => {
    const opener = element.current?.querySelector<HTMLElement>(`[data-opens=${before.current}]`);
    if (mode === 'shown' && document.activeElement === document.body) opener?.focus();
    before.current = mode;
  }, [mode]);
  return element;
}
