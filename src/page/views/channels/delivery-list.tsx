import { useEffect } from 'preact/hooks';
import type { ChannelPart } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { channelPanelOf } from '../../state/channels/channel-panel.ts';
import { channelName, isProblem, partWords, problemWords } from '../../state/channels/channel-words.ts';
import { toClock } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { ReadingNotice } from '../reading-notice.tsx';

/** What was sent to chats. Parts that failed, or of which nobody knows whether they arrived, stand out. */
export function DeliveryList({ app, desk }: { app: App; desk: Desk }) {
  const { log } = channelPanelOf(app, desk);
  useEffect(() => log.follow(), [log]);
  const parts = log.parts.value;
  const shown = log.shown.value;
  const trouble = problemWords(parts ?? []);
  const onlyProblems = log.onlyProblems.value;
  return (
    <section class="account-list" aria-labelledby="sent-title">
      <header>
        <h2 id="sent-title" tabIndex={-1}>
          Sent to chats
        </h2>
        <span class="panel-count" />
        <button
          type="button"
          class="quiet"
          aria-pressed={onlyProblems}
          onClick={() => {
            log.onlyProblems.value = !onlyProblems;
          }}
        >
          Only problems
        </button>
        <button type="button" class="quiet" aria-label="Refresh what was sent" onClick={() => void log.read()}>
          <Icon name="again" />
          Refresh
        </button>
      </header>
      <ReadingNotice of={[log.reading]} />
      {trouble !== undefined && (
        <p class="panel-note">
          <Icon name="warning" />
          <span>{trouble}</span>
        </p>
      )}
      {shown?.length === 0 && (
        <p class="empty">
          {parts?.length === 0
            ? 'Nothing has been sent to a chat yet. Answers, and messages of jobs, are listed here with their result.'
            : 'No listed part failed, and none is unclear.'}
        </p>
      )}
      <ul class="audit-events" aria-label="Sent to chats">
        {shown?.map((part) => (
          <PartRow key={`${part.messageId} ${part.part}`} app={app} part={part} />
        ))}
      </ul>
      {log.hasMore.value && (
        <button type="button" class="quiet more" onClick={() => void log.more()}>
          Show more
        </button>
      )}
    </section>
  );
}

function PartRow({ app, part }: { app: App; part: ChannelPart }) {
  const { channel, to, messageId, providerId, receipt, reason, atMs } = part;
  const { words, tone } = partWords(part);
  return (
    <li class={`audit-event part tone-${tone}`}>
      <p>
        {isProblem(part) && <Icon name="warning" />}
        <b>{words}</b>
        <span>
          {`to ${channelName(channel)} `}
          <ClaimedText text={to} />
        </span>
        <time dateTime={new Date(atMs).toISOString()}>
          {toClock(atMs, { nowMs: app.now(), timeZone: app.timeZone })}
        </time>
      </p>
      {reason !== undefined && <p class="part-reason">{toVisibleLine(reason)}</p>}
      <p class="audit-detail">
        {`part ${part.part + 1} of ${toVisibleLine(messageId)}`}
        {providerId !== undefined && ` · message ${toVisibleLine(providerId)} of the chat`}
        {receipt !== undefined && ` · ${receipt}`}
      </p>
    </li>
  );
}
