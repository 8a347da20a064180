import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import type { AccountServer } from '../../state/consents/consent-board.ts';
import { toMoment } from '../../state/text/moment.ts';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';

/** The person’s accounts at tool servers, with the way to connect one. Nothing is drawn where no server needs an account, if others are listed below. */
export function ConsentList({ app, desk, isAlone }: { app: App; desk: Desk; isAlone: boolean }) {
  const { consents: board } = agentPanelOf(desk);
  useEffect(() => void board.read(), [board]);
  const servers = board.servers.value;
  if (!isAlone && (servers === undefined || servers.length === 0)) return <ReadingNotice of={[board.reading]} />;
  const connected = servers?.filter(({ consent }) => consent !== undefined).length;
  return (
    <section class="account-list consents" aria-labelledby="consents-title">
      <header>
        <h2 id="consents-title" tabIndex={-1}>
          Your accounts at tool servers
        </h2>
        <span class="panel-count" role="status">
          {toCount(connected, 'account')}
        </span>
      </header>
      <p class="soft">
        These servers act for you, with an account of your own. You consent at the provider of the server; agents in
        your conversations then use it for you, and for nobody else.
      </p>
      <ReadingNotice of={[board.reading]} />
      {servers?.length === 0 && <p class="empty">No tool server here needs an account of yours.</p>}
      <ul aria-label="Your accounts">
        {servers?.map((server) => (
          <AccountCard key={server.name} app={app} desk={desk} server={server} />
        ))}
      </ul>
    </section>
  );
}

interface CardProps {
  app: App;
  desk: Desk;
  server: AccountServer;
}

function AccountCard({ app, desk, server }: CardProps) {
  const { consents: board } = agentPanelOf(desk);
  const { name, consent, pending } = server;
  const refusal = useSignal<string | undefined>(undefined);
  const dismiss = async () => {
    refusal.value = undefined;
    refusal.value = await board.dismiss(name);
    if (refusal.value === undefined) document.getElementById('consents-title')?.focus(); // the button is gone
  };
  return (
    <RecordCard
      title={name}
      tags={[pending !== undefined && 'needed']}
      facts={factsOf(server, app.now())}
      name={toVisibleLine(name)}
      onEdit={undefined}
      buttons={
        <>
          {pending !== undefined && (
            <button
              type="button"
              class="quiet"
              aria-label={`Not now: ${toVisibleLine(name)}`}
              onClick={() => void dismiss()}
            >
              Not now
            </button>
          )}
          <ConnectLink server={server} />
        </>
      }
      removal={
        consent && {
          verb: 'Disconnect',
          loss: 'from your user? Its token is revoked at the provider. Agents can use the server for you again after another consent.',
          remove: () => board.disconnect(name),
          focusAfter: 'consents-title',
        }
      }
    >
      {pending !== undefined && (
        <p class="agent-record">
          {consent === undefined ? 'A call needed an account of yours' : 'A call needed further rights'}
          {pending.scopes.length > 0 && `: ${pending.scopes.map(toVisibleLine).join(', ')}`}
          {` (${toMoment(pending.sinceMs, app.now())}).`}
        </p>
      )}
      <p class="problem" role="alert">
        {refusal.value}
      </p>
    </RecordCard>
  );
}

/** A link, because the provider is another site. Drafts survive the way there and back. */
function ConnectLink({ server: { name, url, consent, pending } }: { server: AccountServer }) {
  const address = pending?.url ?? url;
  if (address === undefined || !/^https?:\/\//.test(address)) return null;
  const words = consent === undefined ? 'Connect…' : pending === undefined ? 'Connect again…' : 'Give these rights…';
  return (
    <a
      class={`button ${consent === undefined || pending ? 'primary' : 'quiet'}`}
      href={address}
      aria-label={`${words} ${toVisibleLine(name)}`}
    >
      {words}
    </a>
  );
}

function factsOf({ consent, url }: AccountServer, nowMs: number): string {
  if (consent === undefined) return 'not connected';
  const facts = [
    `connected ${toMoment(consent.connectedAtMs, nowMs)}`,
    consent.scopes.length > 0 && consent.scopes.map(toVisibleLine).join(', '),
    url === undefined && 'the server is not used with accounts any more',
  ];
  return facts.filter(Boolean).join(' · ');
}
