import type { statusContracts } from '../../../protocol/methods/status.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Handlers } from '../call.ts';
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
}

const RECENT = 5;

export const statusMethods = ({
  workstreams,
  models,
  storePath,
  heartbeats,
  systemEvents,
}: StatusMethodDeps): Handlers<keyof typeof statusContracts> => ({
  status: () => {
    const rows = workstreams.list().map(({ data }) => toSessionRow(data));
    const recent = rows.toSorted((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0)).slice(0, RECENT);
    const { alias, provider, modelId } = models.current();
    return {
      heartbeatSeconds: heartbeats.everySeconds,
      providerSummary: [`${alias}: ${provider}/${modelId}`, ...models.notices()],
      queuedSystemEvents: systemEvents.texts(),
      sessions: { path: storePath, count: rows.length, defaults: defaultsOf({ models }), recent },
    };
  },
});
