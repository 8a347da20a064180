import { useLayoutEffect, useRef } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Simulation } from '../../state/rules/simulation.ts';
import { tabName } from '../../state/tab.ts';
import { toMoment } from '../../state/text/moment.ts';

interface TriedCallsProps {
  app: App;
  desk: Desk;
  /** Undefined: nothing was tried yet. */
  tried: Simulation | undefined;
}

/** Which of the latest calls a change would have decided otherwise. */
export function TriedCalls({ app, desk, tried }: TriedCallsProps) {
  const element = useRef<HTMLDivElement>(null);
  // It may be below a long form.
  useLayoutEffect(() => {
    if (tried !== undefined) element.current?.scrollIntoView({ block: 'nearest' });
  }, [tried]);
  const nameOf = (wsId: string) => {
    const tab = desk.workstreams.tabs.value.find((one) => one.wsId === wsId);
    return tab ? `in ${toVisibleLine(tabName(tab))}` : `in the closed workstream ${wsId.slice(0, 8)}`;
  };
  return (
    <div class="tried" ref={element}>
      <p role="status">{tried?.words}</p>
      {tried !== undefined && tried.calls.length > 0 && (
        <ul aria-label="Calls that would change">
          {tried.calls.map(({ key, wsId, atMs, name, words }) => (
            <li key={key}>
              <code>{name}</code>
              <p class="account-facts">{`${words} · ${toMoment(atMs, app.now())} ${nameOf(wsId)}`}</p>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
