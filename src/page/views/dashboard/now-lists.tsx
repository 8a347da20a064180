import type { ComponentChildren } from 'preact';
import { isOver } from '../../../../protocol/job-over.ts';
import type { App, Desk } from '../../state/app.ts';
import { jobName } from '../../state/cron/cron-jobs.ts';
import { firstOf } from '../../state/dashboard/board-figures.ts';
import { type Tab, tabState } from '../../state/tab.ts';
import type { Panel } from '../../state/workstreams.ts';
import { WorkstreamLink } from '../rows/workstream-link.tsx';

/** What waits for a person, what runs, and what failed. */
export function NowLists({ app, desk }: { app: App; desk: Desk }) {
  const tabs = desk.workstreams.tabs.value;
  const inState = (...states: string[]) => tabs.filter((tab) => states.includes(tabState(tab)));
  const failing = (desk.jobs.jobs.value ?? []).filter((job) => job.state.alert && (job.enabled || isOver(job)));
  const asking = app.rights.decide.value ? desk.nodes.waiting.value : 0;
  const open = (panel: Panel) => () => {
    desk.workstreams.shown.value = panel;
  };
  return (
    <section class="board-part" aria-labelledby="board-now">
      <h2 id="board-now">Now</h2>
      <div class="board-now">
        <List
          title="Waits for you"
          desk={desk}
          tabs={inState('attention')}
          none="No question is open. Calls that need your approval appear here."
        >
          {asking > 0 && (
            <li>
              <button type="button" class="quiet link" onClick={open('nodes')}>
                {asking === 1 ? 'A machine asks to become a node' : `${asking} machines ask to become nodes`}
              </button>
            </li>
          )}
        </List>
        <List
          title="Runs"
          desk={desk}
          tabs={inState('running', 'thinking')}
          none="Nothing runs. A message in a workstream, or a job, starts a run."
        />
        <List
          title="Failed"
          desk={desk}
          tabs={inState('error')}
          none="Nothing failed. Runs and jobs that need a look appear here."
        >
          {firstOf(failing).rows.map((job) => (
            <li key={job.id}>
              <button type="button" class="quiet link" onClick={open('schedule')}>
                {`The job ${jobName(job)} keeps failing`}
              </button>
            </li>
          ))}
        </List>
      </div>
    </section>
  );
}

interface ListProps {
  title: string;
  desk: Desk;
  tabs: readonly Tab[];
  /** What an empty list says. */
  none: string;
  children?: ComponentChildren;
}

function List({ title, desk, tabs, none, children }: ListProps) {
  const { rows, left } = firstOf(tabs);
  const others = (Array.isArray(children) ? children : [children]).filter(Boolean);
  return (
    <div class="board-card">
      <h3>
        {title} <span class="soft">{tabs.length + others.length}</span>
      </h3>
      {tabs.length + others.length === 0 ? (
        <p class="soft">{none}</p>
      ) : (
        <ul>
          {children}
          {rows.map(({ wsId }) => (
            <li key={wsId}>
              <WorkstreamLink desk={desk} wsId={wsId} />
            </li>
          ))}
          {left > 0 && <li class="soft">{`and ${left.toLocaleString('en-US')} more, in the list of workstreams`}</li>}
        </ul>
      )}
    </div>
  );
}
