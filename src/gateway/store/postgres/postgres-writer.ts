import type { Clock } from '../../../clock.ts';
import { createGroupLog, type GroupLog } from '../group-log.ts';
import type { UnitOutcome } from '../group-writer.ts';
import { eventChecksum } from '../row-checksum.ts';
import { type Statement, type StoredEvent, type Unit, UnitRefused } from '../store.ts';
import { notesOf } from '../unit-notes.ts';
import { markQuery } from './group-marks.ts';
import { fenceOf, type Lease, LeaseLost } from './lease/lease.ts';
import { type Query, type Sent, sendAll, toQuery } from './pipeline.ts';
import type { PostgresClient } from './postgres-connection.ts';
import { isAfterFailure, postgresFaultOf } from './postgres-errors.ts';
import type { PostgresHeads } from './postgres-heads.ts';
import { rowsOf } from './rows-of.ts';
import type { WritingSession } from './writing-session.ts';

/** The result of a committed group: an outcome per unit, in order, and the new events of each log. */
export interface PostgresGroup {
  outcomes: UnitOutcome[];
  appended: Map<string, StoredEvent[]>;
}

interface WriterDeps {
  session: Pick<WritingSession, 'client' | 'markAfter' | 'lease' | 'marks'>;
  heads: PostgresHeads;
  clock: Pick<Clock, 'now'>;
  /** The connection was lost during a commit. */
  onLost(error: unknown): void;
}

/**
 * Writes a group in one transaction. Rejects, with nothing written, when it could not be committed.
 *
 * All statements are sent at once, the first of which proves that this daemon may write, and the commit after their results. If a unit is refused, the transaction is rolled back
 * and the units are written again, each in its own savepoint, which takes a round trip for each of them.
 */
export function createPostgresWriter(deps: WriterDeps): (units: readonly Unit[]) => Promise<PostgresGroup> {
  const { session, heads, clock } = deps;
  const fence = fenceOf(session.lease);
  return async (units) => {
    await heads.know(units.flatMap(logsOf), (sql, parameters) => rowsOf(session.client(), sql, parameters));
    const write = (attempt: Attempt) => {
      const mark = session.marks.next();
      const { lease } = session;
      return writeGroup(deps, { attempt, units, client: session.client(), nowMs: clock.now(), fence, lease, mark });
    };
    const together = await write(sendTogether);
    const group = 'appended' in together || units.length === 1 ? together : await write(sendApart);
    if (!('appended' in group)) return { outcomes: [{ kind: 'refused', error: group.refusal }], appended: new Map() };
    for (const [wsId, events] of group.appended) heads.advance(wsId, events.at(-1)?.offset ?? 0);
    return group;
  };
}

/** The logs that a unit appends to. */
const logsOf = ({ events, elsewhere = [] }: Unit): string[] =>
  [...(events ? [events] : []), ...elsewhere].map(({ wsId }) => wsId);

interface Place {
  client: PostgresClient;
  units: readonly Unit[];
  nowMs: number;
  /** Finds one row while this daemon may write. */
  fence: Query;
  lease: Pick<Lease, 'name'>;
  /** What the transaction stores, by which it is found again. */
  mark: string;
}

/** A unit of the group was refused, so that the transaction can only be rolled back. */
interface Refusal {
  refusal: Error;
}

/** Writes the units, up to the commit. */
type Attempt = (place: Place, log: GroupLog) => Promise<UnitOutcome[] | Refusal>;

async function writeGroup(
  { session, heads, onLost }: WriterDeps,
  { attempt, ...place }: Place & { attempt: Attempt },
): Promise<PostgresGroup | Refusal> {
  const { client } = place;
  const log = createGroupLog((wsId) => heads.bounds(wsId).last);
  try {
    const outcomes = await attempt(place, log);
    if ('refusal' in outcomes) {
      await client.query('rollback');
      return outcomes;
    }
    const ended = await client.query('commit').catch(async (error: unknown) => {
      if (postgresFaultOf(error) !== 'lost') throw error;
      onLost(error);
      // Only the server knows. The id of the transaction would not do: after a crash, the server gives it to another one.
      if ((await session.markAfter(client, error)) !== place.mark) throw error;
      return COMMITTED;
    });
    if (ended.command !== COMMITTED.command) throw new Error('the transaction was rolled back');
    session.marks.stored(place.mark);
    return { outcomes, appended: log.appended() };
  } catch (error) {
    if (postgresFaultOf(error) !== 'lost') await client.query('rollback').catch(() => undefined); // the first error says why
    throw error;
  }
}

/** What the server answers; of a failed transaction it says that it was rolled back, which is no error. */
const COMMITTED = { command: 'COMMIT' };

const sendTogether: Attempt = async ({ client, units, nowMs, fence, lease, mark }, log) => {
  const parts: Part[] = [];
  const outcomes = units.map((unit): UnitOutcome => {
    const prepared = prepare(unit, log);
    if ('refusal' in prepared) return { kind: 'refused', error: prepared.refusal };
    const offsets = prepared.append();
    parts.push(...prepared.parts, ...noteParts(unit, { offsets, nowMs }));
    return { kind: 'done', offset: offsets.at(-1) ?? 0 };
  });
  const last = [...eventQueries(log, nowMs), markQuery(mark, lease)];
  const first = firstQueries(units, fence);
  const sent = await sendAll(client, [...first, ...parts.map(({ query }) => query), ...last]);
  const results = sent.slice(first.length);
  requireFence(...sent.slice(0, first.length));
  const refusal = refusalOf(parts, results.slice(0, parts.length));
  if (refusal) return { refusal };
  for (const result of results) if (result.kind === 'failed') throw result.error;
  return outcomes;
};

const sendApart: Attempt = async ({ client, units, nowMs, fence, lease, mark }, log) => {
  const outcomes: UnitOutcome[] = [];
  requireFence(...(await sendAll(client, firstQueries(units, fence))));
  for (const unit of units) outcomes.push(await sendOne({ client, nowMs, log }, unit));
  await send(client, [...eventQueries(log, nowMs), markQuery(mark, lease)]);
  return outcomes;
};

async function sendOne(
  { client, nowMs, log }: Pick<Place, 'client' | 'nowMs'> & { log: GroupLog },
  unit: Unit,
): Promise<UnitOutcome> {
  const prepared = prepare(unit, log);
  if ('refusal' in prepared) return { kind: 'refused', error: prepared.refusal };
  const queries = prepared.parts.map(({ query }) => query);
  const results = await sendAll(client, [{ text: 'savepoint unit' }, ...queries]);
  const refusal = refusalOf(prepared.parts, results.slice(1));
  if (refusal) {
    await send(client, [{ text: 'rollback to unit' }, { text: 'release unit' }]);
    return { kind: 'refused', error: refusal };
  }
  const offsets = prepared.append();
  await send(client, [{ text: 'release unit' }, ...noteParts(unit, { offsets, nowMs }).map(({ query }) => query)]);
  return { kind: 'done', offset: offsets.at(-1) ?? 0 };
}

/** Throws unless this daemon may write. */
function requireFence(...results: readonly (Sent | undefined)[]): void {
  for (const result of results) if (result?.kind === 'failed') throw result.error;
  const held = results.at(-1);
  if (held?.kind !== 'done' || held.changed !== 1) throw new LeaseLost();
}

/** A statement of a unit. */
interface Part {
  query: Query;
  statement: Statement;
}

/** Encodes a unit, which may refuse it: nothing of it has been sent then. */
function prepare({ statements = [], ...unit }: Unit, log: GroupLog): { parts: Part[]; append(): number[] } | Refusal {
  try {
    const append = log.prepare({ ...unit, statements });
    return { append, parts: statements.map((statement) => ({ statement, query: toQuery(statement) })) };
  } catch (error) {
    return { refusal: toError(error) };
  }
}

const noteParts = ({ events }: Unit, at: { offsets: readonly number[]; nowMs: number }): Part[] =>
  events === undefined ? [] : [...notesOf(events, at)].map((statement) => ({ statement, query: toQuery(statement) }));

/** Why the unit of these statements is refused; undefined if it is not. Throws what prevents the whole group. */
function refusalOf(parts: readonly Part[], results: readonly Sent[]): Error | undefined {
  for (const [index, { statement }] of parts.entries()) {
    const result = results[index];
    if (result === undefined) throw new Error('a statement has no result');
    const refusal = refusedBy(statement, result);
    if (refusal) return refusal;
  }
  return undefined;
}

function refusedBy({ sql, expect, tag }: Statement, result: Sent): Error | undefined {
  if (result.kind === 'done') {
    if (expect === undefined || result.changed === expect) return undefined;
    return new UnitRefused(`changed ${result.changed} rows instead of ${expect}: ${sql}`, { why: 'rows', tag });
  }
  const { error } = result;
  const fault = postgresFaultOf(error);
  if (fault === 'taken') return new UnitRefused('a key of the unit is in use', { why: 'key', tag, cause: error });
  if (fault === 'other' && !isAfterFailure(error)) return error;
  throw error;
}

/** Events are not refused: if they cannot be stored, nothing of the group is. */
async function send(client: PostgresClient, queries: readonly Query[]): Promise<void> {
  const results = await sendAll(client, queries);
  for (const result of results) if (result.kind === 'failed') throw result.error;
}

/** One statement for the events of all logs. */
function eventQueries(log: GroupLog, nowMs: number): Query[] {
  const columns: [string[], number[], string[], number[]] = [[], [], [], []];
  for (const [wsId, events] of log.appended()) {
    for (const { offset, json } of events) {
      columns[0].push(wsId);
      columns[1].push(offset);
      columns[2].push(json);
      columns[3].push(eventChecksum({ ws_id: wsId, offset, body_json: json, created_ms: nowMs }));
    }
  }
  const [ids, offsets, bodies, checksums] = columns;
  return ids.length === 0
    ? []
    : [{ name: 'events', text: INSERT_EVENTS, values: [ids, offsets, bodies, nowMs, checksums] }];
}

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('a unit failed', { cause: error });

const BEGIN: Query = { text: 'begin' };

/** Begins, waits for its turn if a statement needs one, and proves that this daemon may write. */
function firstQueries(units: readonly Unit[], fence: Query): Query[] {
  const needsTurn = units.some(({ statements = [] }) => statements.some(({ inTurn }) => inTurn));
  return needsTurn ? [BEGIN, TURN, fence] : [BEGIN, fence];
}

/** Any number that no other program uses for a lock of this database. */
const TURN: Query = { name: 'turn', text: 'select pg_advisory_xact_lock(5743211803)' };
const INSERT_EVENTS = `insert into events (ws_id, "offset", body_json, created_ms, checksum)
  select ws_id, "offset", body_json, $4, checksum
  from unnest($1::text[], $2::bigint[], $3::text[], $5::bigint[]) as added (ws_id, "offset", body_json, checksum)`;
