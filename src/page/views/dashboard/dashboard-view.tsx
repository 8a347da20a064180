import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { healthProblems } from '../../../../protocol/text/health-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { type Dashboard, dashboardOf } from '../../state/dashboard/dashboard.ts';
import styles from '../../styles/dashboard.css?inline';
import { Panel } from '../panel.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { LastDay } from './last-day.tsx';
import { Machines } from './machines.tsx';
import { NowLists } from './now-lists.tsx';
import { Spending } from './spending.tsx';

adoptStyles(styles);

const REFRESH_MS = 60_000;

/** What the daemon does, what it costs, and how well it is. */
export function DashboardView({ app, desk }: { app: App; desk: Desk }) {
  const board = dashboardOf(desk);
  useRefresh(board);
  useEffect(() => desk.jobs.follow(), [desk]);
  useEffect(() => desk.nodes.follow(), [desk]);
  const health = app.health.value;
  const problems = health ? healthProblems(health) : [];
  return (
    <Panel name="dashboard" title="Dashboard" count="" desk={desk}>
      <ReadingNotice of={[board.reading, board.days.reading, board.shares.reading]} />
      <NowLists app={app} desk={desk} />
      <Spending app={app} desk={desk} board={board} />
      <Machines app={app} desk={desk} />
      <section class="board-part" aria-labelledby="board-health">
        <h2 id="board-health">Health of the last day</h2>
        {problems.map(({ part, text }) => (
          <p key={part} class="bad">
            {text}
          </p>
        ))}
        <LastDay history={board.history.value} nowMs={app.now()} />
      </section>
    </Panel>
  );
}

/** Reads at once, and once a minute while it is shown. */
function useRefresh(board: Dashboard): void {
  useEffect(() => {
    let cancel = (): void => undefined;
    const step = () => {
      void board.read();
      cancel = systemTimers.after(REFRESH_MS, step);
    };
    step();
    return () => cancel();
  }, [board]);
}
