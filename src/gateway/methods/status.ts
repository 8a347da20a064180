import type { statusContracts } from '../../../protocol/methods/status.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Handlers } from '../call.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { defaultsOf, toSessionRow } from './sessions.ts';

interface StatusMethodDeps {
  workstreams: Workstreams;
  models: Models;
  storePath: string;
}

const RECENT = 5;

export const statusMethods = ({
  workstreams,
  models,
  storePath,
}: StatusMethodDeps): Handlers<keyof typeof statusContracts> => ({
  status: () => {
    const rows = workstreams.list().map(({ data }) => toSessionRow(data));
    const recent = rows.toSorted((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0)).slice(0, RECENT);
    const { alias, provider, modelId } = models.current();
    return {
      heartbeatSeconds: 0,
      providerSummary: [`${alias}: ${provider}/${modelId}`, ...models.notices()],
      queuedSystemEvents: [],
      sessions: { path: storePath, count: rows.length, defaults: defaultsOf({ models }), recent },
    };
  },
});
