import type { NotificationRow } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App } from '../../state/app.ts';
import { channelName } from '../../state/channels/channel-words.ts';
import { toMoment } from '../../state/text/moment.ts';
import { toCount } from '../panel.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { CopyButton } from '../text/code.tsx';

interface NotificationsProps {
  notifications: readonly NotificationRow[];
  app: App;
}

/** Where Headgate sends messages without being asked there: the webhooks of the configuration. */
export const NotificationList = ({ app, notifications }: NotificationsProps) => (
  <section class="account-list" aria-labelledby="notifications-title">
    <header>
      <h2 id="notifications-title" tabIndex={-1}>
        Notifications
      </h2>
      <span class="panel-count">{toCount(notifications.length, 'destination')}</span>
    </header>
    <p class="soft">Other programs to which jobs and agents send messages. Nobody writes from there.</p>
    {notifications.length === 0 && (
      <div class="empty">
        No webhook is configured. Add one to config.json:
        <span class="pairing-command">
          <code>{EXAMPLE}</code>
          <CopyButton text={EXAMPLE} />
        </span>
      </div>
    )}
    <ul aria-label="Notifications">
      {notifications.map((row) => (
        <NotificationCard key={`${row.channel} ${row.name}`} row={row} nowMs={app.now()} />
      ))}
    </ul>
  </section>
);

const EXAMPLE = "{ channels: { webhook: { ops: { url: 'https://example.com/hook', secretEnv: 'OPS_SECRET' } } } }";

function NotificationCard({ row, nowMs }: { row: NotificationRow; nowMs: number }) {
  const { channel, name, waiting, failed, lastOutAtMs, why } = row;
  const facts = [
    channelName(channel),
    lastOutAtMs === undefined ? 'nothing delivered yet' : `last delivered ${toMoment(lastOutAtMs, nowMs)}`,
    waiting > 0 && `${waiting.toLocaleString()} waiting`,
    failed > 0 && `${failed.toLocaleString()} given up`,
  ];
  return (
    <RecordCard
      title={name}
      tags={[why !== undefined && 'failing']}
      facts={facts.filter((fact) => fact !== false).join(' · ')}
      name={toVisibleLine(name)}
      onEdit={undefined}
      removal={undefined}
    >
      {why !== undefined && (
        <p class="channel-trouble tone-bad">{`The latest attempt failed: ${toVisibleLine(why)}`}</p>
      )}
    </RecordCard>
  );
}
