import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { deleteWordsOf } from '../memories/memory-index.ts';
import { deleteRecalled } from '../recall/message-index-rows.ts';
import { hostedBy } from '../workers/elsewhere.ts';
import { build, statementOf } from './statements.ts';
import { type Statement, type Store, tookEffect } from './store.ts';

/** The value of `workstreams.loaded` while rows are being removed, or not complete yet: the workstream cannot be found. */
export const DELETED = 3;
/** Rows per transaction, so that a long conversation does not block the event loop. */
const BATCH = 1_000;

/**
 * Hides a stored workstream at once, under all its names; refused when there is none. `removeRows` removes its rows.
 */
export const markDeleted = (wsId: string): Statement =>
  statementOf(
    build
      .updateTable('workstreams')
      .set({
        loaded: DELETED,
        session_key: null,
        alias: null,
        title: null,
        model_alias: null,
        usage_json: null,
        message_count: 0,
        cut_count: 0,
        context_after_seq: 0,
      })
      .where('ws_id', '=', wsId)
      .where('loaded', '!=', DELETED),
    1,
  );

/** Refused once the rows are gone: a new workstream may have the id then. */
const stillDeleted = (wsId: string): Statement =>
  statementOf(
    build.updateTable('workstreams').set({ loaded: DELETED }).where('ws_id', '=', wsId).where('loaded', '=', DELETED),
    1,
  );

/** The same, and nothing that its runs had to send is sent any more. */
export const hideDeleted = (wsId: string): Statement[] => [
  markDeleted(wsId),
  {
    sql: `UPDATE outbox SET status = 'dead', error = 'the conversation was deleted', ended_ms = accepted_ms
          WHERE ws_id = ? AND status = 'pending'`,
    parameters: [wsId],
  },
];

/** Removes all rows of a deleted workstream in batches, events before the messages that they refer to, its own row last. */
export async function removeRows(store: Pick<Store, 'db' | 'commit'>, wsId: string): Promise<void> {
  for (const remove of [
    removeEvents,
    removeMessages,
    removeNotes,
    removeRuns,
    removeSent,
    removeAgents,
    removeAttachments,
    removeMemories,
    deleteRecalled,
    removeVerdicts,
    removeAssessments,
  ]) {
    for (let statements = await remove(store, wsId); statements.length > 0; statements = await remove(store, wsId)) {
      if (!(await tookEffect(store.commit({ statements: [stillDeleted(wsId), ...statements] })))) return;
      await nextTurn();
    }
  }
  const head = build.deleteFrom('log_heads').where('ws_id', '=', wsId);
  const prefix = build.deleteFrom('prefixes').where('ws_id', '=', wsId);
  const own = build.deleteFrom('workstreams').where('ws_id', '=', wsId).where('loaded', '=', DELETED);
  const cuts = build.deleteFrom('cuts').where('ws_id', '=', wsId);
  const trust = build.deleteFrom('instruction_trust').where('ws_id', '=', wsId);
  const applied = build.deleteFrom('applied_templates').where('ws_id', '=', wsId);
  const opening = build.deleteFrom('opening_prompts').where('ws_id', '=', wsId);
  const chosen = build.deleteFrom('chosen_skills').where('ws_id', '=', wsId);
  const rules = build.deleteFrom('rules').where('ws_id', '=', wsId);
  const background = build.deleteFrom('background_commands').where('ws_id', '=', wsId);
  const watches = build.deleteFrom('watches').where('ws_id', '=', wsId);
  const checkpoints = build.deleteFrom('checkpoints').where('ws_id', '=', wsId);
  const changes = build.deleteFrom('file_changes').where('ws_id', '=', wsId);
  const coordinator = build.deleteFrom('coordinators').where('ws_id', '=', wsId);
  // An id that another workstream may get once this row is gone.
  const children = build.updateTable('workstreams').set({ parent_ws_id: null }).where('parent_ws_id', '=', wsId);
  const quarantined = build
    .deleteFrom('quarantined_memories')
    .where('scope', '=', 'workstream')
    .where('scope_id', '=', wsId);
  const between = [quarantined, chosen, watches, background, checkpoints, changes, coordinator, children];
  const rest = [...between, rules, head, prefix, trust, cuts, applied, opening, own];
  await tookEffect(store.commit({ statements: [stillDeleted(wsId), ...rest.map((each) => statementOf(each))] }));
}

/** Continues removals that were not finished, and removes what a dead daemon had begun to store; not what `isBeingMade`. */
export async function removeDeleted(
  store: Pick<Store, 'db' | 'commit' | 'machine'>,
  isBeingMade: (wsId: string) => boolean,
): Promise<void> {
  const deleted = store.db.selectFrom('workstreams').select('ws_id').where('loaded', '=', DELETED);
  const rows = await deleted.where(hostedBy(store)).execute();
  for (const { ws_id } of rows) if (!isBeingMade(ws_id)) await removeRows(store, ws_id);
}

/** Returns the statements that remove the next batch; none when nothing is left. */
type Remove = (store: Pick<Store, 'db'>, wsId: string) => Promise<Statement[]>;

const removeMessages: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('messages').select('seq').where('ws_id', '=', wsId).orderBy('seq');
  const end = await ofWorkstream.limit(BATCH).execute();
  const last = end.at(-1)?.seq;
  if (last === undefined) return [];
  return [statementOf(build.deleteFrom('messages').where('ws_id', '=', wsId).where('seq', '<=', last))];
};

const removeNotes: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('notes').select('after_seq').where('ws_id', '=', wsId).orderBy('after_seq');
  const end = await ofWorkstream.limit(BATCH).execute();
  const last = end.at(-1)?.after_seq;
  if (last === undefined) return [];
  return [statementOf(build.deleteFrom('notes').where('ws_id', '=', wsId).where('after_seq', '<=', last))];
};

const removeEvents: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('events').select('offset').where('ws_id', '=', wsId).orderBy('offset');
  const end = await ofWorkstream.limit(BATCH).execute();
  const last = end.at(-1)?.offset;
  if (last === undefined) return [];
  return [statementOf(build.deleteFrom('events').where('ws_id', '=', wsId).where('offset', '<=', last))];
};

const removeRuns: Remove = async ({ db }, wsId) => {
  const rows = await db
    .selectFrom('runs')
    .select('run_id')
    .where('ws_id', '=', wsId)
    .limit(BATCH / 10)
    .execute();
  const runIds = rows.map(({ run_id }) => run_id);
  if (runIds.length === 0) return [];
  return (['journal', 'approvals', 'runs'] as const).map((table) =>
    statementOf(build.deleteFrom(table).where('run_id', 'in', runIds)),
  );
};

/** The answers and questions that its runs sent. Without its parts, a message that is on its way is not sent any further. */
const removeSent: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('outbox').select('seq').where('ws_id', '=', wsId).orderBy('seq');
  const last = (await ofWorkstream.limit(BATCH / 10).execute()).at(-1)?.seq;
  if (last === undefined) return [];
  const sent = build.selectFrom('outbox').select('message_id').where('ws_id', '=', wsId).where('seq', '<=', last);
  const parts = build.deleteFrom('channel_chunks').where('message_id', 'in', sent);
  return [
    statementOf(parts.where('state', 'in', ['unsent', 'sending'])), // the others have no texts
    statementOf(build.deleteFrom('outbox').where('ws_id', '=', wsId).where('seq', '<=', last)),
  ];
};

/** With their messages, and what the journal and the approvals hold of them. */
const removeAgents: Remove = async ({ db }, wsId) => {
  const rows = await db
    .selectFrom('sub_agents')
    .select('agent_id')
    .where('ws_id', '=', wsId)
    .limit(BATCH / 10)
    .execute();
  const ids = rows.map(({ agent_id }) => agent_id);
  if (ids.length === 0) return [];
  return [
    ...(['journal', 'approvals'] as const).map((table) =>
      statementOf(build.deleteFrom(table).where('run_id', 'in', ids)),
    ),
    ...(['sub_agent_messages', 'sub_agents'] as const).map((table) =>
      statementOf(build.deleteFrom(table).where('agent_id', 'in', ids)),
    ),
  ];
};

/** The next sweep of unreferenced files removes the files. */
const removeAttachments: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('attachments').select('attachment_id').where('ws_id', '=', wsId);
  const end = await ofWorkstream.orderBy('attachment_id').limit(BATCH).execute();
  const last = end.at(-1)?.attachment_id;
  if (last === undefined) return [];
  return [statementOf(build.deleteFrom('attachments').where('ws_id', '=', wsId).where('attachment_id', '<=', last))];
};

const removeVerdicts: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('verdicts').select('created_ms').where('ws_id', '=', wsId).orderBy('created_ms');
  const last = (await ofWorkstream.limit(BATCH).execute()).at(-1)?.created_ms;
  if (last === undefined) return [];
  return [statementOf(build.deleteFrom('verdicts').where('ws_id', '=', wsId).where('created_ms', '<=', last))];
};

const removeAssessments: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db
    .selectFrom('output_assessments')
    .select('created_ms')
    .where('ws_id', '=', wsId)
    .orderBy('created_ms');
  const last = (await ofWorkstream.limit(BATCH).execute()).at(-1)?.created_ms;
  if (last === undefined) return [];
  return [
    statementOf(build.deleteFrom('output_assessments').where('ws_id', '=', wsId).where('created_ms', '<=', last)),
  ];
};

/** Once their workstream is hidden, only those who see everything find its memories. */
const removeMemories: Remove = async ({ db }, wsId) => {
  const ofWorkstream = db.selectFrom('memories').where('scope', '=', 'workstream').where('scope_id', '=', wsId);
  const next = await ofWorkstream
    .select(['seq', sql<number>`octet_length(content) + octet_length(description)`.as('bytes')])
    .orderBy('seq')
    .limit(MOST_MEMORIES)
    .execute();
  let bytes = 0;
  const some = next.filter((row, index) => {
    bytes += Number(row.bytes);
    return index === 0 || bytes <= MOST_MEMORY_BYTES;
  });
  const last = some.at(-1)?.seq;
  if (last === undefined) return [];
  const parameters = [wsId, last];
  const doomed = `select seq from memories where scope = 'workstream' and scope_id = ? and seq <= ?`;
  return [
    ...deleteWordsOf({ sql: doomed, parameters }),
    { sql: `delete from memories where seq in (${doomed})`, parameters },
  ];
};

/** Removing words from their index takes much longer than removing other rows. */
const MOST_MEMORIES = 10;
const MOST_MEMORY_BYTES = 16 * 1024;
