import type { statusContracts } from '../../../protocol/methods/status.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Handlers } from '../call.ts';
import type { Channel } from '../channels/channel.ts';
import type { Channels } from '../channels/channels.ts';
import { readState } from '../channels/outbox-rows.ts';
import type { Store } from '../store/store.ts';
import type { Heartbeats } from '../wake/heartbeats.ts';
import type { SystemEvents } from '../wake/system-events.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { defaultsOf, toSessionRow } from './sessions.ts';

interface StatusMethodDeps {
  workstreams: Workstreams;
  models: Models;
  storePath: string;
  heartbeats: Pick<Heartbeats, 'everySeconds'>;
  systemEvents: Pick<SystemEvents, 'texts'>;
  channels: Pick<Channels, 'all'>;
  store: Pick<Store, 'db'>;
}

const RECENT = 5;

export const statusMethods = ({
  workstreams,
  models,
  storePath,
  heartbeats,
  systemEvents,
  channels,
  store,
}: StatusMethodDeps): Handlers<keyof typeof statusContracts> => ({
  status: async () => {
    const rows = workstreams.list().map(({ data }) => toSessionRow(data));
    const recent = rows.toSorted((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0)).slice(0, RECENT);
    const { alias, provider, modelId } = models.current();
    return {
      heartbeatSeconds: heartbeats.everySeconds,
      providerSummary: [
        `${alias}: ${provider}/${modelId}`,
        ...models.notices(),
        ...channels.all.flatMap(toLine),
        ...outboxLines(await readState(store)),
      ],
      queuedSystemEvents: systemEvents.texts(),
      sessions: { path: storePath, count: rows.length, defaults: defaultsOf({ models }), recent },
    };
  },
});

const toLine = ({ name, destinations }: Channel): string[] =>
  destinations && destinations.length > 0 ? [`${name}: ${destinations.join(', ')}`] : [];

function outboxLines({ waiting, dead, latestDead }: Awaited<ReturnType<typeof readState>>): string[] {
  if (waiting + dead === 0) return [];
  const letters = latestDead.map((row) => `${row.provider} ${row.destination}: ${row.error} (${row.message_id})`);
  return [`outbox: ${waiting} waiting, ${dead} given up`, ...letters];
}
