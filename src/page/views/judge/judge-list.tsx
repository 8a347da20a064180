import { useEffect, useMemo } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { App, Desk } from '../../state/app.ts';
import { type JudgeList as Kind, RISKS_OF } from '../../state/judge/judge-records.ts';
import type { JudgeRecord } from '../../state/judge/judge-words.ts';
import { tabName } from '../../state/tab.ts';
import { toClock } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { Choice } from '../rows/choice.tsx';
import { WorkstreamLink } from '../rows/workstream-link.tsx';

const LISTS: Record<Kind, string> = { verdicts: 'Calls', outputs: 'Outputs' };
const HOUR_MS = 3_600_000;
const SINCE = [
  [0, 'any time'],
  [HOUR_MS, 'the last hour'],
  [24 * HOUR_MS, 'the last day'],
  [7 * 24 * HOUR_MS, 'the last week'],
  [30 * 24 * HOUR_MS, 'the last 30 days'],
] as const;

/** What the judge said about calls, or the output guard about outputs, and what was decided; newest first. */
export function JudgeList({ app, desk }: { app: App; desk: Desk }) {
  const { judge } = accountsOf(desk);
  useEffect(() => void judge.read(), [judge]);
  const listing = judge.listing.value;
  const left = (listing?.total ?? 0) - (listing?.records.length ?? 0);
  return (
    <section class="account-list" aria-labelledby="judge-title">
      <header>
        <h2 id="judge-title" tabIndex={-1}>
          Judge
        </h2>
        <span class="panel-count">{toCount(listing?.total, 'record')}</span>
        <button type="button" class="quiet" onClick={() => void judge.read()}>
          <Icon name="again" />
          Refresh
        </button>
      </header>
      <p class="soft">
        The judge rates how risky each call is. That helps you to decide; it decides itself only in the mode Auto, and
        never against a rule or a tool policy.
      </p>
      <Filters desk={desk} />
      <ReadingNotice of={[judge.reading]} />
      {listing?.total === 0 && (
        <p class="empty">
          No record matches. Each tool call gets a record; change the filters, or ask the agent to run a command.
        </p>
      )}
      <ul class="audit-events" aria-label="Records">
        {listing?.records.map((record) => (
          <JudgeRow key={record.id} app={app} desk={desk} record={record} />
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="quiet more" onClick={() => void judge.more()}>
          {`Show more (${left.toLocaleString()})`}
        </button>
      )}
    </section>
  );
}

function Filters({ desk }: { desk: Desk }) {
  const { judge } = accountsOf(desk);
  const { list, wsId, risk, withinMs } = judge.filter.value;
  const tabs = desk.workstreams.tabs.value;
  const closed = judge.workstreams.value.filter((id) => tabs.every((tab) => tab.wsId !== id));
  return (
    <div class="audit-filters">
      <Choice
        label="What"
        value={list}
        options={[
          ['verdicts', LISTS.verdicts],
          ['outputs', LISTS.outputs],
        ]}
        onChoose={(chosen) => void judge.read({ list: chosen })}
      />
      <Choice
        label="Risk"
        value={risk}
        options={[['', 'any'], ...RISKS_OF[list].map((level) => [level, level] as const)]}
        onChoose={(chosen) => void judge.read({ risk: chosen })}
      />
      <Choice
        label="Since"
        value={withinMs}
        options={SINCE}
        onChoose={(chosen) => void judge.read({ withinMs: chosen })}
      />
      <Choice
        label="Workstream"
        value={wsId}
        options={[
          ['', 'all'],
          ...tabs.map((tab) => [tab.wsId, toVisibleLine(tabName(tab))] as const),
          ...closed.map((id) => [id, `closed: ${id.slice(0, 8)}`] as const),
        ]}
        onChoose={(chosen) => void judge.read({ wsId: chosen })}
      />
    </div>
  );
}

function JudgeRow({ app, desk, record }: { app: App; desk: Desk; record: JudgeRecord }) {
  const { wsId, atMs, risk, tool, title, decided, details } = record;
  // Formats of times are slow, and a further page draws all rows again.
  const clock = useMemo(() => toClock(atMs, { nowMs: app.now(), timeZone: app.timeZone }), [atMs, app]);
  return (
    <li class="audit-event judged">
      <p>
        <span class={`tag rating ${risk}`}>{`${risk} risk`}</span>
        <b>{tool}</b>
        <span>{title}</span>
        <time dateTime={new Date(atMs).toISOString()}>{clock}</time>
      </p>
      <p class="account-facts">
        {decided}
        {' · in '}
        <WorkstreamLink desk={desk} wsId={wsId} />
      </p>
      <details class="account-facts">
        <summary>Why</summary>
        <ul>
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      </details>
    </li>
  );
}
