import { GatewayError } from '../../../protocol/errors.ts';
import type { RunRequest } from '../runs/run-record.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Channels } from './channels.ts';
import { readLast } from './delivery-rows.ts';

/** Where a client wants the answer of a run to go. */
interface Asked {
  viewer: Viewer;
  deliver?: boolean | undefined;
  /** Absent or `last`: any channel. `webchat`: clients only. */
  channel?: string | undefined;
  /** Default: where the session's last message on the channel went. */
  to?: string | undefined;
  /** Of the session, if it exists. */
  wsId: string | undefined;
}

/** The destination of the answer, checked before the run is accepted; undefined when only clients get it. */
export async function resolveDelivery(
  { viewer, deliver, channel, to, wsId }: Asked,
  { channels, store }: { channels: Channels; store: Pick<Store, 'db'> },
): Promise<RunRequest['deliver']> {
  const name = channel?.trim().toLowerCase();
  if (!deliver || name === 'webchat') return undefined;
  const isLast = name === undefined || name === '' || name === 'last';
  if (to?.trim()) {
    const found = await channels.resolve({ provider: isLast ? undefined : name, to, viewer });
    return { provider: found.channel.name, to: found.to };
  }
  const provider = isLast ? undefined : channels.linked(name).name;
  const last = wsId === undefined ? undefined : await readLast(store, { wsId, provider, viewer });
  if (last) return { provider: last.provider, to: last.destination };
  const sent = provider === undefined ? 'sent nothing' : `sent nothing by ${provider}`;
  throw new GatewayError('INVALID_REQUEST', `deliver needs \`to\`: this session has ${sent} yet`);
}
