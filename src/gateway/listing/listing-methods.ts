import { sql } from 'kysely';
import type { listingContracts, WorkstreamRow } from '../../../protocol/methods/conversation/listing.ts';
import type { Models } from '../../agent/providers/model.ts';
import type { Handlers } from '../call.ts';
import type { Health } from '../health.ts';
import { createMessageSearch } from '../recall/message-search.ts';
import { type Viewer, viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { shareOf } from '../usage/last-usage.ts';
import type { Placing } from '../workers/team.ts';
import type { WaitingRow } from '../workers/waiting-workstreams.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { activityOf } from './activity.ts';
import type { SavedWorkstreams } from './saved-workstreams.ts';

/** What the methods of this folder need. */
export interface ListingDeps {
  workstreams: Pick<Workstreams, 'list' | 'lookUp'>;
  waiting: Placing['waiting'];
  saved: SavedWorkstreams;
  store: Store;
  models: Pick<Models, 'current'>;
  health: Pick<Health, 'summary'>;
  nodeId: string;
}

/** Lists of workstreams. */
export const listingMethods = ({
  workstreams,
  waiting,
  saved,
  store,
  models,
  health,
  nodeId,
}: ListingDeps): Handlers<keyof typeof listingContracts> => {
  const search = createMessageSearch({ store, models });
  return {
    async 'workstream.list'(_, call) {
      const viewer = viewerOf(call);
      const waits = await waiting.list(viewer);
      const rows = await Promise.all(waits.map((one) => toWaitingRow(one, viewer, workstreams)));
      return { workstreams: [...workstreams.list(viewer).map(({ data }) => data.toRow()), ...rows.flat()] };
    },
    'workstream.saved': async (params, call) => ({ workstreams: await saved.list(params, viewerOf(call)), nodeId }),
    'workstream.find': (params, call) => search.find(params, viewerOf(call), call.signal),
    'workstream.dashboard': async (_, call) => {
      const loaded = workstreams.list(viewerOf(call));
      const tokens = await tokensOf(
        loaded.map(({ data }) => data.wsId),
        store,
      );
      const rows = loaded.map((workstream) => {
        const { wsId, name, state, title, modelAlias } = workstream.data.toRow();
        const { usage, toolCalls } = workstream.data;
        return {
          wsId,
          name,
          state,
          title,
          modelAlias,
          toolCalls,
          ...activityOf(workstream),
          model: workstream.data.settingsEvent().model,
          totalTokens: tokens.get(wsId) ?? 0,
          contextRatio: shareOf(usage).contextRatio,
        };
      });
      const { uptimeSeconds } = health.summary();
      return {
        workstreams: rows,
        totalTokens: sum(rows.map(({ totalTokens }) => totalTokens)),
        totalToolCalls: sum(rows.map(({ toolCalls }) => toolCalls)),
        activeCount: rows.filter(({ state }) => state !== 'idle' && state !== 'error').length,
        uptimeSeconds,
        nodeId,
      };
    },
  };
};

/** Empty if it has been opened here meanwhile. */
async function toWaitingRow(
  { row, waiting }: WaitingRow,
  viewer: Viewer,
  workstreams: Pick<Workstreams, 'list' | 'lookUp'>,
): Promise<WorkstreamRow[]> {
  const data = await workstreams.lookUp(row.ws_id, viewer, { read: async () => row });
  return data ? [{ ...data.toRow(), waiting }] : [];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** All tokens that these workstreams have used. */
async function tokensOf(wsIds: readonly string[], { db }: Pick<Store, 'db'>): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('usage')
    .select(['ws_id', sql<number>`sum(input + output)`.as('tokens')])
    .where('ws_id', 'in', wsIds)
    .groupBy('ws_id')
    .execute();
  return new Map(rows.map(({ ws_id, tokens }) => [ws_id, tokens]));
}
