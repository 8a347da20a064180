import { useEffect } from 'preact/hooks';
import type { AuditEvent } from '../../../../protocol/methods/accounts/audit.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { AuditPages } from '../../state/accounts/audit-pages.ts';
import { AUDIT_ACTIONS, toDetailWords, toVerdictWords } from '../../state/accounts/audit-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { toClock } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { Choice } from '../rows/choice.tsx';

/** Who did what, newest first, and whether the records are as they were written. */
export function AuditList({ app, desk }: { app: App; desk: Desk }) {
  const { audit } = accountsOf(desk);
  useEffect(() => void audit.read(), [audit]);
  const listing = audit.listing.value;
  return (
    <section class="account-list" aria-labelledby="audit-title">
      <header>
        <h2 id="audit-title" tabIndex={-1}>
          Audit trail
        </h2>
        <span class="panel-count" />
        <button type="button" class="quiet" onClick={() => void audit.read()}>
          <Icon name="again" />
          Refresh
        </button>
        <button
          type="button"
          class="primary"
          disabled={audit.verifying.isReading.value}
          onClick={() => void audit.verify()}
        >
          <Icon name="shield" />
          <span>Verify</span>
        </button>
      </header>
      <Filters audit={audit} />
      <ReadingNotice of={[audit.reading, audit.verifying]} />
      <Verdict audit={audit} />
      {listing?.events.length === 0 && (
        <p class="empty">
          No record matches. Every change of a setting, a user or a right gets one; change the filters.
        </p>
      )}
      <ul class="audit-events" aria-label="Records">
        {listing?.events.map((event) => (
          <AuditRow
            key={event.seq}
            app={app}
            event={event}
            actor={audit.actorOf(event)}
            target={audit.targetOf(event)}
          />
        ))}
      </ul>
      {listing?.hasMore && (
        <button type="button" class="quiet more" onClick={() => void audit.more()}>
          Show more
        </button>
      )}
    </section>
  );
}

function Filters({ audit }: { audit: AuditPages }) {
  const filter = audit.filter.value;
  return (
    <div class="audit-filters">
      <Choice
        label="Action"
        value={filter.action}
        options={[['', 'all'], ...AUDIT_ACTIONS.map((action) => [action, action] as const)]}
        onChoose={(action) => void audit.read({ ...filter, action })}
      />
      <Choice
        label="User"
        value={filter.userId}
        options={[
          ['', 'everybody'],
          ...[...audit.people.value].map(([id, name]) => [id, toVisibleLine(name)] as const),
        ]}
        onChoose={(userId) => void audit.read({ ...filter, userId })}
      />
    </div>
  );
}

function Verdict({ audit }: { audit: AuditPages }) {
  const verdict = audit.verdict.value;
  return (
    <p class={verdict && !verdict.ok ? 'panel-note alert' : 'verdict'} role="status">
      {audit.verifying.isReading.value && 'Checking every record…'}
      {verdict && <Icon name={verdict.ok ? 'check' : 'warning'} />}
      {verdict && <span>{toVerdictWords(verdict)}</span>}
    </p>
  );
}

const OUTCOMES: Record<AuditEvent['outcome'], string> = { ok: 'done', denied: 'denied', failed: 'failed' };

interface AuditRowProps {
  app: App;
  event: AuditEvent;
  actor: string;
  /** The name of the user that it is about. */
  target: string | undefined;
}

function AuditRow({ app, event, actor, target }: AuditRowProps) {
  const { atMs, action, resourceId, outcome, detail, ipAddress } = event;
  return (
    <li class={`audit-event ${outcome}`}>
      <p>
        <b>
          <ClaimedText text={action} />
        </b>
        <span class="tag">{OUTCOMES[outcome]}</span>
        <time dateTime={new Date(atMs).toISOString()}>
          {toClock(atMs, { nowMs: app.now(), timeZone: app.timeZone })}
        </time>
      </p>
      <p class="account-facts">
        by <ClaimedText text={actor} />
        {ipAddress !== '' && ` from ${toVisibleLine(ipAddress)}`}
        {resourceId !== '' && (
          <>
            {' · on '}
            <ClaimedText text={target ?? resourceId} />
          </>
        )}
      </p>
      {detail !== '' && detail !== '{}' && <code class="audit-detail">{toVisibleLine(toDetailWords(detail))}</code>}
    </li>
  );
}
