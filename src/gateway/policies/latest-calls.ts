import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { ToolCall, ToolMessage } from '../../agent/message.ts';
import type { Messages, StoredMessage } from '../history/messages.ts';
import { perceivedBy, type Viewer } from '../sharing/perception.ts';
import { DELETED } from '../store/deletion.ts';
import type { Store } from '../store/store.ts';

/** What is read. */
export interface CallsDeps {
  store: Pick<Store, 'db'>;
  messages: Pick<Messages, 'backwards'>;
}

/** Results of calls, and the arguments of requested calls by id. */
interface Results {
  results: StoredMessage[];
  requested: ReadonlyMap<string, string>;
}

/** A call with its result, as stored. */
export interface StoredCall {
  wsId: string;
  workdir: string;
  ownerId: string;
  message: ToolMessage;
  /** Undefined if its request is not among the messages that were read. */
  argumentsJson: string | undefined;
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
    const read = await latestResults(deps, workstream, { limit, oldestMs });
    found = [...found, ...(await withQuestions(deps.store.db, workstream, read))]
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
): Promise<Results> {
  const results: StoredMessage[] = [];
  const requested = new Map<string, string>();
  let pages = 0;
  for await (const page of messages.backwards(ws_id, { after: 0, upTo: message_count })) {
    results.push(...page.filter(({ message }) => message.role === 'tool'));
    for (const call of page.flatMap(requestsIn)) requested.set(call.id, call.arguments);
    pages += 1;
    if (results.length >= limit || pages >= MOST_PAGES || (page[0]?.createdMs ?? 0) < oldestMs) break;
  }
  return { results, requested };
}

const requestsIn = ({ message }: StoredMessage): ToolCall[] => (message.role === 'assistant' ? message.toolCalls : []);

const latestWorkstreams = (db: Store['db'], viewer: Viewer) =>
  db
    .selectFrom('workstreams')
    .select(['ws_id', 'message_count', 'updated_ms', 'workdir', 'owner_id'])
    .where('loaded', '!=', DELETED)
    .where('message_count', '>', 0)
    .where(perceivedBy(viewer))
    .orderBy('updated_ms', 'desc')
    .limit(MOST_WORKSTREAMS)
    .execute();

async function withQuestions(
  db: Store['db'],
  { ws_id: wsId, workdir, owner_id: ownerId }: Found,
  { results, requested }: Results,
): Promise<StoredCall[]> {
  const place = { wsId, workdir, ownerId };
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
    message.role === 'tool'
      ? [
          {
            ...place,
            message,
            argumentsJson: requested.get(message.callId),
            atMs: createdMs,
            asked: isAnsweredByJudge(message) ? undefined : asked.get(`${runId} ${message.callId}`),
          },
        ]
      : [],
  );
}

/** The question was stored, but no person was needed. */
const isAnsweredByJudge = ({ decision }: ToolMessage): boolean => decision?.auto === 'smart_approval';

/** None of a damaged row. */
function itemsIn(json: string): ApprovalItem[] {
  try {
    return JSON.parse(json);
  } catch {
    return [];
  }
}
