import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { ToolMessage } from '../../agent/message.ts';
import type { Messages, StoredMessage } from '../history/messages.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';

/** What is read. */
export interface CallsDeps {
  store: Pick<Store, 'db'>;
  messages: Pick<Messages, 'backwards'>;
}

/** A call with its result, as stored. */
export interface StoredCall {
  wsId: string;
  message: ToolMessage;
  atMs: number;
  /** A person was asked about it; `again`: because the run repeated it. */
  asked: 'call' | 'again' | undefined;
}

/** So many workstreams are looked through at most, and so many pages of each. */
const MOST_WORKSTREAMS = 200;
const MOST_PAGES = 20;

interface Wanted {
  limit: number;
  viewer: Viewer;
  signal: AbortSignal;
}

/** The latest calls of the workstreams that the viewer perceives, newest first. */
export async function latestCalls(deps: CallsDeps, { limit, viewer, signal }: Wanted): Promise<StoredCall[]> {
  let found: StoredCall[] = [];
  for (const workstream of await latestWorkstreams(deps.store.db, viewer)) {
    const oldestMs = found[limit - 1]?.atMs ?? 0;
    if (signal.aborted || oldestMs > workstream.updated_ms) break;
    const results = await latestResults(deps, workstream, { limit, oldestMs });
    found = [...found, ...(await withQuestions(deps.store.db, workstream.ws_id, results))]
      .sort((a, b) => b.atMs - a.atMs)
      .slice(0, limit);
  }
  return found;
}

type Found = Awaited<ReturnType<typeof latestWorkstreams>>[number];

/** Reads backwards until there are enough, or only older ones than are known already. */
async function latestResults(
  { messages }: CallsDeps,
  { ws_id, message_count }: Found,
  { limit, oldestMs }: { limit: number; oldestMs: number },
): Promise<StoredMessage[]> {
  const results: StoredMessage[] = [];
  let pages = 0;
  for await (const page of messages.backwards(ws_id, { after: 0, upTo: message_count })) {
    results.push(...page.filter(({ message }) => message.role === 'tool'));
    pages += 1;
    if (results.length >= limit || pages >= MOST_PAGES || (page[0]?.createdMs ?? 0) < oldestMs) break;
  }
  return results;
}

const latestWorkstreams = (db: Store['db'], viewer: Viewer) =>
  db
    .selectFrom('workstreams')
    .select(['ws_id', 'message_count', 'updated_ms'])
    .where('loaded', '!=', DELETED)
    .where('message_count', '>', 0)
    .where(perceivedBy(viewer))
    .orderBy('updated_ms', 'desc')
    .limit(MOST_WORKSTREAMS)
    .execute();

async function withQuestions(db: Store['db'], wsId: string, results: readonly StoredMessage[]): Promise<StoredCall[]> {
  const runIds = [...new Set(results.flatMap(({ runId }) => runId ?? []))];
  const rows =
    runIds.length === 0
      ? []
      : await db
          .selectFrom('approvals')
          .select(['run_id', 'items_json'])
          .where('run_id', 'in', runIds)
          .where('kind', '=', 'tools')
          .execute();
  const asked = new Map(
    rows.flatMap(({ run_id, items_json }) =>
      itemsIn(items_json)
        .filter((item) => item.needs_approval && item.auto_approved === undefined)
        .map((item) => [`${run_id} ${item.call_id}`, item.repeated === undefined ? 'call' : 'again'] as const),
    ),
  );
  return results.flatMap(({ message, createdMs, runId }) =>
    message.role === 'tool' ? [{ wsId, message, atMs: createdMs, asked: asked.get(`${runId} ${message.callId}`) }] : [],
  );
}

/** None of a damaged row. */
function itemsIn(json: string): ApprovalItem[] {
  try {
    return JSON.parse(json);
  } catch {
    return [];
  }
}
