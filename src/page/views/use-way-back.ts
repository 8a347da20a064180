import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Desk } from '../state/app.ts';
import { WayBack } from '../state/way-back.ts';
import type { Overlay } from './overlay.ts';

/** The browser's Back button closes the overlay first, then the panel that replaces the conversation. */
export function useWayBack({ desk, overlay }: { desk: Desk; overlay: Overlay }): void {
  const { shown } = desk.workstreams;
  const open = Number(shown.value !== 'conversation') + Number(overlay.value !== undefined);
  const way = useRef<WayBack>(undefined);
  useLayoutEffect(() => {
    const closeTop = () => {
      if (overlay.peek() === undefined) shown.value = 'conversation';
      else overlay.value = undefined;
    };
    const current = new WayBack({ history: window.history, closeTop });
    const onMoved = () => current.onMoved();
    way.current = current;
    window.addEventListener('popstate', onMoved);
    return () => window.removeEventListener('popstate', onMoved);
  }, [shown, overlay]);
  useLayoutEffect(() => way.current?.follow(open), [open]);
}
