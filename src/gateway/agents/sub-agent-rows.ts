import { sql } from 'kysely';
import { SubAgent } from '../../../protocol/events/sub-agent.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { ListedSubAgent } from '../../../protocol/methods/conversation/sub-agent.ts';
import type { Message, ToolMessage } from '../../agent/message.ts';
import type { Prefix } from '../../agent/prefix/prefix.ts';
import type { ContextCut } from '../../agent/run/window/run-window.ts';
import type { SubAgentEnd, SubAgentTask } from '../../agent/subagents/sub-agents.ts';
import type { StoredMessage } from '../history/messages.ts';
import type { SubAgentTable } from '../store/schema/agents/sub-agent-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';
import { isListOf, isText, storedReader } from '../store/stored-value.ts';

/** A sub-agent as it is stored. */
export interface StoredAgent {
  wsId: string;
  /** The run that it belongs to. */
  runId: string;
  state: SubAgent;
  /** `isTrusted`: nothing that nobody trusts had been read by its parent when it wrote the prompt. */
  task: SubAgentTask & { isTrusted: boolean };
  prefix: Prefix | undefined;
  cuts: readonly ContextCut[];
  end: SubAgentEnd | undefined;
}

type Readable = Pick<Store, 'db' | 'reportDamage'>;

/** Stores one that is about to start. */
export const insertAgent = ({ wsId, runId, state, task }: StoredAgent): Statement =>
  statementOf(
    build.insertInto('sub_agents').values({
      agent_id: state.agent_id,
      ws_id: wsId,
      run_id: runId,
      parent_id: state.parent_agent_id ?? '',
      call_id: state.call_id,
      started_ms: state.started_ms,
      is_running: 1,
      state_json: JSON.stringify(state),
      task_json: JSON.stringify(task),
      prefix_json: null,
      cuts_json: '[]',
      end_json: null,
    }),
    1,
  );

/** Stores the present state. */
export const updateAgent = ({ state, prefix, cuts, end }: StoredAgent): Statement => ({
  sql: `UPDATE sub_agents SET is_running = ?, state_json = ?, prefix_json = ?, cuts_json = ?, end_json = ? WHERE agent_id = ?`,
  parameters: [
    Number(state.state !== 'ended'),
    JSON.stringify(state),
    prefix ? JSON.stringify(prefix) : null,
    JSON.stringify(cuts),
    end ? JSON.stringify(end) : null,
    state.agent_id,
  ],
  expect: 1,
});

export const insertAgentMessage = (
  { agentId, seq }: { agentId: string; seq: number },
  message: Message,
  nowMs: number,
): Statement => ({
  sql: 'INSERT INTO sub_agent_messages (agent_id, seq, body_json, created_ms) VALUES (?, ?, ?, ?)',
  parameters: [agentId, seq, JSON.stringify(message), nowMs],
  expect: 1,
});

/** With the end of a run that does not wait for its sub-agents: what they left open. */
export const endAgentsOf = (runId: string, nowMs: number): Statement[] => [
  {
    sql: `UPDATE approvals SET status = 'cancelled', decided_by = 'cancel', decided_ms = ? WHERE status = 'pending'
          AND run_id IN (SELECT agent_id FROM sub_agents WHERE run_id = ? AND is_running = 1)`,
    parameters: [nowMs, runId],
  },
  {
    sql: `UPDATE sub_agents SET is_running = 0, state_json =
            json_set(json_set(json_set(state_json, '$.state', 'ended'), '$.outcome', 'cancelled'), '$.ended_ms', cast(? as bigint))
          WHERE run_id = ? AND is_running = 1 AND json_valid(state_json)`,
    parameters: [nowMs, runId],
  },
];

/**
 * All sub-agents of a workstream, in the order in which they were started, which times do not tell: a clock may be put back, and
 * files of others may say anything. Damaged ones are left out, which is reported.
 */
export async function readAllAgents(store: Readable, wsId: string): Promise<StoredAgent[]> {
  const rows = await store.db
    .selectFrom('sub_agents')
    .selectAll()
    .where('ws_id', '=', wsId)
    .orderBy(sql`rowid`)
    .execute();
  return rows.flatMap((row) => toAgent(row, store) ?? []);
}

/** So many are listed. */
const LISTED = 500;

/** The latest sub-agents of a workstream, in the order in which they were started, with what each said last. */
export async function readAgentsIn(store: Readable, wsId: string): Promise<ListedSubAgent[]> {
  const rows = await store.db
    .selectFrom('sub_agents')
    .selectAll()
    .where('ws_id', '=', wsId)
    .orderBy('started_ms', 'desc')
    .limit(LISTED)
    .execute();
  const agents = rows.reverse().flatMap((row) => toAgent(row, store) ?? []);
  const listed: ListedSubAgent[] = [];
  for (const { state, end } of agents) {
    const said = end?.text ?? (await readLastWords(store, state.agent_id));
    listed.push({ ...state, ...(said && { last_output: said.slice(0, LAST_CHARS) }) });
  }
  return listed;
}

const LAST_CHARS = 500;
/** Behind its last words there are only the results of the calls that it made with them. */
const LAST_MESSAGES = 20;

/** What one that has not ended said last. */
async function readLastWords(store: Readable, agentId: string): Promise<string | undefined> {
  const rows = await store.db
    .selectFrom('sub_agent_messages')
    .select('body_json')
    .where('agent_id', '=', agentId)
    .orderBy('seq', 'desc')
    .limit(LAST_MESSAGES)
    .execute();
  const read = storedReader(store);
  for (const { body_json } of rows) {
    const message = read(body_json, `a message of sub-agent ${agentId}`, isMessage);
    if (message?.role === 'assistant' && message.content !== '') return message.content;
  }
  return undefined;
}

/** All sub-agents of a run, also those that have ended. Damaged ones are left out, which is reported. */
export async function readAgentsOf(store: Readable, runId: string): Promise<StoredAgent[]> {
  const rows = await store.db.selectFrom('sub_agents').selectAll().where('run_id', '=', runId).execute();
  return rows.flatMap((row) => toAgent(row, store) ?? []);
}

/** A sub-agent of a workstream. */
export async function findAgent(store: Readable, wsId: string, agentId: string): Promise<StoredAgent | undefined> {
  const row = await store.db
    .selectFrom('sub_agents')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('ws_id', '=', wsId)
    .executeTakeFirst();
  return row && toAgent(row, store);
}

/** Its messages, also those that it no longer reads. A damaged one is replaced by words about that. */
export async function readAgentMessages(store: Readable, agentId: string): Promise<StoredMessage[]> {
  const rows = await store.db
    .selectFrom('sub_agent_messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('seq')
    .execute();
  const read = storedReader(store);
  return rows.map(({ seq, body_json, created_ms }): StoredMessage => {
    const message = read(body_json, `message ${seq} of sub-agent ${agentId}`, isMessage);
    const stored = { seq, runId: agentId, createdMs: created_ms };
    return message ? { ...stored, message } : { ...stored, message: LOST, isDamaged: true };
  });
}

/** The latest result of a call of a sub-agent at work: their ids are no two the same. */
export async function findAgentResult(store: Readable, wsId: string, callId: string): Promise<ToolMessage | undefined> {
  const named = `%${JSON.stringify({ callId }).slice(1, -1).replace(/[!%_]/g, '!$&')}%`;
  const rows = await store.db
    .selectFrom('sub_agent_messages')
    .innerJoin('sub_agents', 'sub_agents.agent_id', 'sub_agent_messages.agent_id')
    .select(['sub_agent_messages.agent_id', 'body_json'])
    .where('ws_id', '=', wsId)
    .where('is_running', '=', 1)
    .where(sql<boolean>`body_json like ${named} escape '!'`)
    .orderBy('seq', 'desc')
    .execute();
  const read = storedReader(store);
  for (const { agent_id: agentId, body_json } of rows) {
    const message = read(body_json, `a message of sub-agent ${agentId}`, isMessage);
    if (message?.role === 'tool' && message.callId === callId) return message;
  }
  return undefined;
}

const LOST: Message = { role: 'user', content: '[This message is damaged in the database.]' };

const isMessage = (value: unknown): value is Message => isRecord(value) && isText(value.role);
const isState = (value: unknown): value is SubAgent => SubAgent.safeParse(value).success;
const isTask = (value: unknown): value is StoredAgent['task'] => isRecord(value) && isText(value.prompt);
const isPrefix = (value: unknown): value is Prefix => isRecord(value) && isText(value.system);
const areCuts = isListOf((value): value is ContextCut => isRecord(value) && isText(value.kind));
const isEnd = (value: unknown): value is SubAgentEnd => isRecord(value) && isText(value.outcome);

function toAgent(row: SubAgentTable, store: Readable): StoredAgent | undefined {
  const read = storedReader(store);
  const name = `sub-agent ${row.agent_id}`;
  const state = read(row.state_json, `the state of ${name}`, isState);
  const task = read(row.task_json, `the task of ${name}`, isTask);
  const cuts = read(row.cuts_json, `the cuts of ${name}`, areCuts);
  if (!state || !task || !cuts) return undefined;
  const prefix = row.prefix_json === null ? undefined : read(row.prefix_json, `the prefix of ${name}`, isPrefix);
  const end = row.end_json === null ? undefined : read(row.end_json, `the end of ${name}`, isEnd);
  return { wsId: row.ws_id, runId: row.run_id, state, task, prefix, cuts, end };
}
