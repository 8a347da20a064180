import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { channelPanelOf } from '../../state/channels/channel-panel.ts';
import { isSetUp } from '../../state/channels/channel-words.ts';
import styles from '../../styles/channels.css?inline';
import { Panel, toCount } from '../panel.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { ChannelCard } from './channel-card.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { NotificationList } from './notification-list.tsx';
import { PeopleList } from './people-list.tsx';

adoptStyles(styles);

interface ChannelsViewProps {
  app: App;
  desk: Desk;
}

/** The chat services from which people write, these people, what was sent to them, and where notifications go. */
export function ChannelsView({ app, desk }: ChannelsViewProps) {
  const count = channelPanelOf(app, desk).board.listing.value?.channels.filter(isSetUp).length;
  return (
    <Panel name="channels" title="Channels" count={toCount(count, 'channel')} desk={desk}>
      {/* A change of rights draws it anew, so that it reads what may be seen now. */}
      <Channels key={app.rights.manageChannels.value} app={app} desk={desk} />
    </Panel>
  );
}

function Channels({ app, desk }: ChannelsViewProps) {
  const { board } = channelPanelOf(app, desk);
  useEffect(() => board.follow(), [board]);
  const listing = board.listing.value;
  const mayManage = app.rights.manageChannels.value;
  return (
    <>
      <ReadingNotice of={[board.reading, board.choosing]} />
      {listing === undefined && board.reading.problem.value === undefined && (
        <p class="empty" role="status">
          Loading…
        </p>
      )}
      {listing && (
        <>
          <section class="account-list" aria-labelledby="services-title">
            <header>
              <h2 id="services-title" tabIndex={-1}>
                Chat services
              </h2>
            </header>
            <p class="soft">People write to Headgate from these. Each chat has its own conversation.</p>
            {listing.channels.length === 0 && (
              <p class="empty">
                This daemon has no chat services. With one, such as Telegram, people can talk to the agent from their
                phones.
              </p>
            )}
            <ul aria-label="Chat services">
              {listing.channels.map((row) => (
                <ChannelCard key={row.channel} app={app} desk={desk} row={row} />
              ))}
            </ul>
          </section>
          {mayManage ? (
            <>
              <PeopleList app={app} desk={desk} channels={listing.channels.filter(isSetUp)} />
              <DeliveryList app={app} desk={desk} />
            </>
          ) : (
            <p class="account-list soft">
              The people who write, and what was sent to them, are shown to those with the permission admin.users.
            </p>
          )}
          <NotificationList app={app} notifications={listing.notifications} />
        </>
      )}
    </>
  );
}
