import { useEffect } from 'preact/hooks';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { App, Desk } from '../../state/app.ts';

/**
 * Follows a link to a message: that of the address when the page was opened, and each that the address gets later. Without a
 * connection it waits for one; a notification opens the inbox at once, which reads when it can.
 */
export function useLinks({ app, desk }: { app: App; desk: Desk }): void {
  const isOpen = app.connection.value.kind === 'open';
  useEffect(() => {
    const follow = () => {
      const place = isOpen ? app.arrival.takePlace() : undefined;
      if (place) desk.workstreams.visit(place).catch((error) => tell(desk, error));
    };
    const onChange = () => {
      if (!/^#(conversation=|inbox)/.test(location.hash)) return; // a login link; main.tsx follows it
      app.arrival.read();
      if (app.arrival.isFromNotification) desk.workstreams.shown.value = 'inbox'; // which goes to the question
      follow();
    };
    onChange(); // the address may have changed before somebody listened
    follow();
    window.addEventListener('hashchange', onChange);
    return () => window.removeEventListener('hashchange', onChange);
  }, [app, desk, isOpen]);
}

function tell({ workstreams }: Desk, error: unknown): void {
  const tab = workstreams.front.peek();
  if (tab) tab.problem.value = `The link cannot be followed: ${wordsOf(error)}`;
}
