import type { SessionRow } from '../../../protocol/methods/sessions.ts';
import type { StatusSession, statusContracts } from '../../../protocol/methods/status.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import type { Channel } from '../channels/channel.ts';
import type { Channels } from '../channels/channels.ts';
import { readState } from '../channels/delivery-rows.ts';
import type { ChannelHealth } from '../channels/health/channel-health.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Heartbeats } from '../wake/heartbeats.ts';
import type { SystemEvents } from '../wake/system-events.ts';
import type { SessionList } from '../workstreams/session-list.ts';
import { defaultsOf, toSessionRow } from './sessions.ts';

interface StatusMethodDeps {
  sessions: SessionList;
  models: Models;
  storePath: string;
  heartbeats: Pick<Heartbeats, 'everySeconds'>;
  systemEvents: Pick<SystemEvents, 'texts'>;
  chats: { channels: Pick<Channels, 'all'>; health: Pick<ChannelHealth, 'look' | 'rows' | 'notices'> };
  store: Pick<Store, 'db'>;
  clock: Pick<Clock, 'now'>;
}

const RECENT = 5;

export const statusMethods = ({
  sessions,
  models,
  storePath,
  heartbeats,
  systemEvents,
  chats,
  store,
  clock,
}: StatusMethodDeps): Handlers<keyof typeof statusContracts> => ({
  status: async (_, call) => {
    const viewer = viewerOf(call);
    const newest = await sessions.newest({ viewer, sinceMs: 0, limit: RECENT });
    const nowMs = clock.now();
    const recent = newest.map((data) => toStatusSession(toSessionRow(data), nowMs));
    const { alias, provider, modelId } = models.current();
    await chats.health.look();
    const services = chats.health.rows();
    return {
      web: { linked: false },
      heartbeatSeconds: heartbeats.everySeconds,
      providerSummary: [
        `${alias}: ${provider}/${modelId}`,
        ...models.notices().map(({ text }) => text),
        ...chats.health.notices().map(({ text }) => text),
        ...chats.channels.all.flatMap(toLine),
        ...services.map(({ channel, state, why }) => `${channel}: ${state}${why === undefined ? '' : ` (${why})`}`),
        ...outboxLines(await readState(store, { viewer, principal: call.principal?.id ?? '' })),
      ],
      queuedSystemEvents: systemEvents.texts(),
      sessions: { path: storePath, count: await sessions.count(viewer), defaults: defaultsOf({ models }), recent },
      channels: services,
    };
  },
});

function toStatusSession(row: SessionRow, nowMs: number): StatusSession {
  const { updatedAt, totalTokens: used, contextTokens: context, thinkingLevel, verboseLevel, abortedLastRun } = row;
  const isKnown = used !== undefined && context !== undefined;
  return {
    ...row,
    age: updatedAt === null ? null : Math.max(0, nowMs - updatedAt),
    remainingTokens: isKnown ? Math.max(0, context - used) : null,
    percentUsed: isKnown ? Math.round((used / context) * 100) : null,
    flags: [
      ...(thinkingLevel === undefined ? [] : [`think:${thinkingLevel}`]),
      ...(verboseLevel === undefined ? [] : [`verbose:${verboseLevel}`]),
      ...(abortedLastRun ? ['aborted'] : []),
    ],
  };
}

const toLine = ({ name, destinations }: Channel): string[] =>
  destinations && destinations.length > 0 ? [`${name}: ${destinations.join(', ')}`] : [];

function outboxLines({ waiting, dead, latestDead }: Awaited<ReturnType<typeof readState>>): string[] {
  if (waiting + dead === 0) return [];
  const letters = latestDead.map((row) => `${row.provider} ${row.destination}: ${row.error} (${row.message_id})`);
  return [`outbox: ${waiting} waiting, ${dead} given up`, ...letters];
}
