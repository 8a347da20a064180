import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Approval } from '../../../../protocol/methods/approval.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { tabName } from '../../state/tab.ts';
import { toDistance } from '../../state/text/moment.ts';
import { toTitle } from '../approvals/approval-card.tsx';
import { QuestionBody } from '../approvals/question-body.tsx';
import { Icon } from '../icons.tsx';
import { Panel, toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { useNow } from '../use-now.ts';

/** So many are drawn at once: each measures how much of its calls fits. */
const STEP = 20;

/** Every question of every workstream that waits for a decision. */
export function InboxView({ app, desk }: { app: App; desk: Desk }) {
  const { inbox } = desk;
  useEffect(() => void inbox.read(), [inbox]);
  const now = useNow(app.now).value;
  const most = useSignal(STEP);
  const waiting = inbox.waiting.value;
  const left = (waiting?.length ?? 0) - most.value;
  return (
    <Panel name="inbox" title="Inbox" count={toCount(waiting?.length, 'question')} desk={desk}>
      <ReadingNotice of={[inbox.reading]} />
      {waiting?.length === 0 && (
        <div class="panel-none">
          <span class="mark big">
            <Icon name="check" />
          </span>
          <h2>Nothing waits for you</h2>
          <p>When the agent asks in any workstream, the question appears here.</p>
        </div>
      )}
      <ul aria-label="Questions">
        {waiting?.slice(0, most.value).map((asked) => (
          <InboxCard key={asked.approvalId} app={app} desk={desk} asked={asked} now={now} />
        ))}
      </ul>
      {left > 0 && (
        <button
          type="button"
          class="quiet more"
          onClick={() => {
            most.value += STEP;
          }}
        >
          {`Show more (${left})`}
        </button>
      )}
    </Panel>
  );
}

interface InboxCardProps {
  app: App;
  desk: Desk;
  asked: Approval;
  now: number;
}

function InboxCard({ app, desk, asked, now }: InboxCardProps) {
  const problem = useSignal<string | undefined>(undefined);
  const { approvalId, wsId, kind, items, budget, expiresAtMs } = asked;
  const tab = desk.workstreams.tabs.value.find((one) => one.wsId === wsId);
  const name = toVisibleLine(tab ? tabName(tab) : asked.sessionKey);
  const question = { approvalId, question: kind, items, budget };
  const id = `inbox-${approvalId}`;
  return (
    <li>
      <article class="panel-row approval pending" aria-labelledby={id} tabIndex={-1}>
        <p class="inbox-head">
          <button type="button" class="quiet" onClick={() => void desk.workstreams.show(wsId)}>
            {name}
            <span class="hidden-text">: open the conversation</span>
          </button>
          <span class="soft">{`ends ${toDistance(expiresAtMs, now)}`}</span>
        </p>
        <QuestionBody
          approval={question}
          mayDecide={app.rights.decide.value}
          title={
            <h2 id={id}>
              <Icon name="shield" />
              {toTitle(question)}
            </h2>
          }
          decide={async (decided) => {
            problem.value = undefined;
            problem.value = await desk.inbox.decide(approvalId, decided);
          }}
        />
        <p class="problem" role="alert">
          {problem.value}
        </p>
      </article>
    </li>
  );
}
