import { useSignal } from '@preact/signals';
import type { ChannelRow, ChannelSender } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { channelPanelOf } from '../../state/channels/channel-panel.ts';
import { channelName, SENDER_WORDS } from '../../state/channels/channel-words.ts';
import { toDistance } from '../../state/text/moment.ts';
import { toCount } from '../panel.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { PairingForm } from './pairing-form.tsx';

interface PeopleProps {
  app: App;
  desk: Desk;
  /** Those that are set up. */
  channels: readonly ChannelRow[];
}

/** The people who write, or asked to, and the form that approves one. */
export function PeopleList({ app, desk, channels }: PeopleProps) {
  const senders = channelPanelOf(app, desk).board.senders.value;
  const nowMs = app.now(); // they are read, and drawn, every few seconds
  const waiting = senders?.filter((sender) => isAsking(sender, nowMs)).length;
  const isOn = channels.length > 0;
  return (
    <section class="account-list" aria-labelledby="people-title">
      <header>
        <h2 id="people-title" tabIndex={-1}>
          People
        </h2>
        <span class="panel-count" role="status">
          {waiting ? `${waiting} waiting` : toCount(senders?.length, 'person').replace('persons', 'people')}
        </span>
      </header>
      {isOn && <PairingForm app={app} desk={desk} channels={channels.map(({ channel }) => channel)} />}
      {senders?.length === 0 && (
        <p class="empty">
          {isOn
            ? 'Nobody has asked to write yet. Whoever writes gets a code; enter it above.'
            : 'Set up a chat service first. Then people ask here.'}
        </p>
      )}
      <ul aria-label="People">
        {senders?.map((sender) => (
          <SenderCard
            key={`${sender.channel} ${sender.senderId}`}
            app={app}
            desk={desk}
            sender={sender}
            nowMs={nowMs}
          />
        ))}
      </ul>
      {senders && senders.length >= MOST && (
        <p class="soft">{`Only the latest ${MOST.toLocaleString()} are listed.`}</p>
      )}
    </section>
  );
}

/** The most that the daemon lists. */
const MOST = 1_000;

const isAsking = ({ status, codeExpiresAtMs = 0 }: ChannelSender, nowMs: number): boolean =>
  status === 'pending' && codeExpiresAtMs > nowMs;

interface SenderProps {
  app: App;
  desk: Desk;
  sender: ChannelSender;
  nowMs: number;
}

function SenderCard({ app, desk, sender, nowMs }: SenderProps) {
  const { board } = channelPanelOf(app, desk);
  const { channel, senderId, status } = sender;
  const name = sender.name.trim() === '' ? senderId : sender.name;
  const isPending = status === 'pending';
  const problem = useSignal<string | undefined>(undefined);
  const onProblem = (text: string | undefined) => {
    problem.value = text;
  };
  return (
    <RecordCard
      title={name}
      tags={[isPending && !isAsking(sender, nowMs) ? 'code expired' : SENDER_WORDS[status]]}
      facts={factsOf(sender, { owner: board.ownerOf(sender), nowMs })}
      name={toVisibleLine(name)}
      onEdit={undefined}
      buttons={status === 'revoked' && <RestoreButton app={app} desk={desk} sender={sender} onProblem={onProblem} />}
      removal={
        status === 'revoked'
          ? undefined
          : {
              verb: status === 'approved' ? 'Revoke' : 'Refuse',
              icon: 'cross',
              focusAfter: 'people-title',
              loss: `? Headgate answers nothing more from ${channelName(channel)} ${toVisibleLine(senderId)}, and gives no new code. You can restore the person later.`,
              remove: () => board.revoke(sender),
            }
      }
    >
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </RecordCard>
  );
}

type RestoreProps = Omit<SenderProps, 'nowMs'> & {
  /** Told of an error message, or of undefined before each attempt. */
  onProblem(text: string | undefined): void;
};

/** Needs no question: the person can do nothing more until a code is approved, or the configuration lists the number. */
function RestoreButton({ app, desk, sender, onProblem }: RestoreProps) {
  const { board } = channelPanelOf(app, desk);
  const restore = async () => {
    onProblem(undefined);
    const problem = await board.restore(sender);
    onProblem(problem);
    if (problem === undefined) document.getElementById('people-title')?.focus(); // the button is gone
  };
  const name = sender.name.trim() === '' ? sender.senderId : sender.name;
  return (
    <button type="button" class="quiet" aria-label={`Restore ${toVisibleLine(name)}`} onClick={() => void restore()}>
      Restore
    </button>
  );
}

function factsOf(sender: ChannelSender, { owner, nowMs }: { owner: string; nowMs: number }): string {
  const { channel, senderId, status, blocked, codeExpiresAtMs } = sender;
  const facts = [
    `${channelName(channel)} ${toVisibleLine(senderId)}`,
    status === 'approved' && `conversations of ${toVisibleLine(owner)}`,
    isAsking(sender, nowMs) && codeExpiresAtMs !== undefined && `code ends ${toDistance(codeExpiresAtMs, nowMs)}`,
    status === 'restored' && 'gets a code with the next message, unless allowFrom lists the number',
    blocked > 0 && `${toCount(blocked, 'refused message')}`,
  ];
  return facts.filter((fact) => fact !== false).join(' · ');
}
