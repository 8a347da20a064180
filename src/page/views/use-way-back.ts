import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Desk } from '../state/app.ts';
import { WayBack } from '../state/way-back.ts';
import type { Overlay } from './overlay.ts';

/** The browser's Back button closes the overlay first, then the panel that replaces the conversation, then what stands beside it. */
export function useWayBack({ desk, overlay }: { desk: Desk; overlay: Overlay }): void {
  const { shown, front } = desk.workstreams;
  const aside = front.value?.aside.value;
  const open =
    Number(shown.value !== 'conversation') +
    Number(overlay.value !== undefined) +
    Number(aside !== undefined && overlay.value !== 'aside'); // on a narrow screen it is an overlay
  const way = useRef<WayBack>(undefined);
  useLayoutEffect(() => {
    const closeTop = () => {
      const tab = front.peek();
      if (overlay.peek() !== undefined) overlay.value = undefined;
      else if (shown.peek() !== 'conversation') shown.value = 'conversation';
      else if (tab) tab.aside.value = undefined;
    };
    const current = new WayBack({ history: window.history, closeTop });
    const onMoved = () => current.onMoved();
    way.current = current;
    window.addEventListener('popstate', onMoved);
    return () => window.removeEventListener('popstate', onMoved);
  }, [shown, front, overlay]);
  useLayoutEffect(() => way.current?.follow(open), [open]);
}
