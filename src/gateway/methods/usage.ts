import { REPORT_GROUPINGS, type usageContracts } from '../../../protocol/methods/usage.ts';
import { wrongField } from '../../../protocol/parse.ts';
import type { Clock } from '../../clock.ts';
import type { Handlers } from '../call.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Budgets } from '../usage/budgets.ts';
import { readUsageReport } from '../usage/usage-report.ts';
import { readUsage } from '../usage/usage-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface UsageMethodDeps {
  users: { find(userId: string): { username: string } | undefined };
  clock: Pick<Clock, 'now'>;
  store: Pick<Store, 'db'>;
  workstreams: Pick<Workstreams, 'get'>;
  budgets: Pick<Budgets, 'list' | 'set'>;
}

export const usageMethods = ({
  store,
  workstreams,
  budgets,
  users,
  clock,
}: UsageMethodDeps): Handlers<keyof typeof usageContracts> => ({
  'usage.get': ({ by = 'day', from, to, wsId }, call) =>
    readUsage(store, by, { viewer: viewerOf(call), from, to, wsId }),
  'usage.report': ({ groupBy = 'day', ...query }) => {
    const grouping = REPORT_GROUPINGS.find((one) => one === groupBy);
    if (grouping === undefined)
      throw wrongField('groupBy', `must be one of: ${REPORT_GROUPINGS.join(', ')}`, { separator: ' ' });
    return readUsageReport({ ...query, groupBy: grouping }, { store, users, clock });
  },
  'budget.list': async ({ wsId }, call) => {
    const workstream = wsId === undefined ? undefined : await workstreams.get(wsId, viewerOf(call));
    return { budgets: await budgets.list({ wsId, runId: workstream?.current?.run.runId }) };
  },
  'budget.set': async ({ wsId, tokens, usd }, call) => {
    await workstreams.get(wsId, viewerOf(call));
    await budgets.set(wsId, { tokens, usd }, call.audited({ tokens, usd }));
    return { budgets: await budgets.list({ wsId }) };
  },
});
