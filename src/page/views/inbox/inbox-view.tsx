import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Decided } from '../../state/approvals/rule-choices.ts';
import { withModelVerdicts } from '../../state/conversation/late-verdicts.ts';
import type { AskedApproval } from '../../state/inbox/inbox.ts';
import {
  DRAWN_AT_ONCE,
  goToAsked,
  type InboxPanel,
  inboxPanelOf,
  readAsked,
  toEntries,
} from '../../state/inbox/inbox-panel.ts';
import type { Triage } from '../../state/inbox/triage.ts';
import { tabName } from '../../state/tab.ts';
import { toDistance, toLength } from '../../state/text/moment.ts';
import { toTitle } from '../approvals/approval-card.tsx';
import { QuestionBody } from '../approvals/question-body.tsx';
import { Icon } from '../icons.tsx';
import { Panel, toCount } from '../panel.tsx';
import { LazyPiece } from '../parts/lazy-views.tsx';
import { NOTIFY } from '../parts/parts.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { useNow } from '../use-now.ts';
import { neighbourOf } from './neighbour.ts';
import { ThingCard } from './thing-card.tsx';
import { useTriage } from './use-triage.ts';

/** Every question of every workstream that waits for a decision. */
export function InboxView({ app, desk }: { app: App; desk: Desk }) {
  const { inbox } = desk;
  const panel = inboxPanelOf(app, desk);
  useEffect(() => void Promise.all([inbox.read(), panel.things.read()]), [inbox, panel]);
  useTriage(panel.triage);
  const now = useNow(app.now); // read only where it is shown, so that a second draws nothing else
  const tabs = desk.workstreams.tabs.value;
  useEffect(() => void desk.owners.read(tabs.map(({ row }) => row.peek())), [desk, tabs]);
  const drawn = useSignal(DRAWN_AT_ONCE);
  const waiting = inbox.waiting.value;
  const entries = toEntries(waiting ?? [], panel.things.all.value, panel.triage.held.value?.key);
  const left = entries.length - drawn.value;
  const { arrival } = app;
  const question = arrival.question.value;
  useEffect(() => void readAsked(arrival, { inbox, things: panel.things }), [arrival, inbox, panel, question]);
  useLayoutEffect(() => goToAsked({ arrival, drawn, focus: focusCard }, entries));
  return (
    <Panel name="inbox" title="Inbox" count={toCount(waiting?.length, 'question')} desk={desk}>
      <LazyPiece part={NOTIFY} desk={desk}>
        {({ NotifySection }) => <NotifySection app={app} desk={desk} />}
      </LazyPiece>
      <ReadingNotice of={[inbox.reading, ...panel.things.readings]} />
      <TriageNotice triage={panel.triage} />
      {waiting !== undefined && entries.length === 0 && (
        <div class="panel-none">
          <span class="mark big">
            <Icon name="check" />
          </span>
          <h2>Nothing waits for you</h2>
          <p>
            When the agent asks in any workstream, the question appears here. To try it, write “run touch hello.txt” to
            the agent.
          </p>
        </div>
      )}
      <ul aria-label="Questions">
        {entries
          .slice(0, drawn.value)
          .map((entry) =>
            'asked' in entry ? (
              <InboxCard key={entry.key} app={app} desk={desk} panel={panel} asked={entry.asked} now={now} />
            ) : (
              <ThingCard key={entry.key} desk={desk} panel={panel} thing={entry.thing} now={now} />
            ),
          )}
      </ul>
      {left > 0 && (
        <button
          type="button"
          class="quiet more"
          onClick={() => {
            drawn.value += DRAWN_AT_ONCE;
          }}
        >
          {`Show more (${left})`}
        </button>
      )}
    </Panel>
  );
}

/** What was decided with a key, while that can be taken back. */
function TriageNotice({ triage }: { triage: Triage }) {
  const held = triage.held.value;
  const problem = triage.problem.value;
  return (
    <div class="undo-notice" role="status">
      {held && (
        <>
          <span>{held.words}</span>
          <button type="button" title="u" onClick={() => triage.undo()}>
            Undo
          </button>
        </>
      )}
      {problem !== undefined && <span class="problem">{problem}</span>}
    </div>
  );
}

/** Returns false while the card is not drawn. */
function focusCard(key: string): boolean {
  const card = document.getElementById(`inbox-${key}`)?.closest('article');
  card?.focus();
  return card !== undefined && card !== null;
}

interface InboxCardProps {
  app: App;
  desk: Desk;
  panel: InboxPanel;
  asked: AskedApproval;
  now: ReadonlySignal<number>;
}

function InboxCard({ app, desk, panel, asked, now }: InboxCardProps) {
  const problem = useSignal<string | undefined>(undefined);
  const card = useRef<HTMLLIElement>(null);
  const { approvalId, wsId, kind, budget, modelVerdicts } = asked;
  const items = withModelVerdicts(asked.items, modelVerdicts);
  const tab = desk.workstreams.tabs.value.find((one) => one.wsId === wsId);
  const name = toVisibleLine(tab ? tabName(tab) : asked.sessionKey);
  const owner = tab && desk.owners.otherThan(app.who.value, tab.row.value);
  const question = { approvalId, question: kind, items, budget };
  const id = `inbox-${approvalId}`;
  const decide = async (decided: Decided) => {
    problem.value = undefined;
    const next = neighbourOf(card.current);
    if (panel.triage.isKey) {
      const words = `${decided.approved ? 'Approved' : 'Denied'}: ${name}`;
      panel.triage.hold({ key: approvalId, words, act: () => desk.inbox.decide(approvalId, decided) });
    } else problem.value = await desk.inbox.decide(approvalId, decided);
    if (problem.value === undefined) next?.focus();
  };
  return (
    <li ref={card}>
      <article class="panel-row approval pending" aria-labelledby={id} tabIndex={-1}>
        <p class="inbox-line">
          <button type="button" class="quiet" data-decision="open" onClick={() => void desk.workstreams.show(wsId)}>
            {name}
            <span class="hidden-text">: open the conversation</span>
          </button>
          {owner !== undefined && <span class="tag">{`of ${owner}`}</span>}
          <Times asked={asked} now={now} />
        </p>
        <QuestionBody
          desk={desk}
          approval={question}
          mayDecide={app.rights.decide.value}
          title={
            <h2 id={id}>
              <Icon name="shield" />
              {toTitle(question)}
            </h2>
          }
          decide={decide}
        />
        <p class="problem" role="alert">
          {problem.value}
        </p>
      </article>
    </li>
  );
}

const Times = ({ asked, now }: Pick<InboxCardProps, 'asked' | 'now'>) => (
  <span class="soft">{toTimes(asked, now.value)}</span>
);

/** Full minutes of the wait, so that nothing changes every second; the last minutes of the rest are counted in seconds. */
function toTimes({ askedAtMs, expiresAtMs }: AskedApproval, now: number): string {
  const minutes = Math.floor((now - askedAtMs) / MINUTE_MS);
  const waits = minutes < 1 ? 'asked just now' : `waits for ${toLength(minutes * MINUTE_MS)}`;
  return `${waits} · ends ${toDistance(expiresAtMs, now)}`;
}

const MINUTE_MS = 60_000;
