import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StreamEvent } from '../protocol/stream-events.ts';
import type { Message } from '../src/agent/message.ts';
import type { JournalEntry } from '../src/agent/run/journal.ts';
import type { ApprovalTable, RunTable } from '../src/gateway/store/schema.ts';

export interface Logged {
  offset: number;
  event: StreamEvent;
}

/** One workstream as its daemon's file holds it. */
export interface Ledger {
  events: Logged[];
  messages: Message[];
  /** In the order they were accepted. */
  runs: { run: RunTable; journal: JournalEntry[] }[];
  approvals: ApprovalTable[];
}

/** Reads a workstream from the file, beside the daemon or after it, and checks what must hold whatever happened. */
export function readLedger(home: string, wsId: string): Ledger {
  const db = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  try {
    // One transaction: the daemon may be writing. The casts are what the columns hold.
    db.exec('begin');
    const all = (sql: string) => db.prepare(sql).all(wsId);
    const events = all('select "offset", body_json from events where ws_id = ? order by "offset"');
    const messages = all('select seq, body_json from messages where ws_id = ? order by seq');
    const runs = all('select * from runs where ws_id = ? order by accepted_ms, run_id') as unknown as RunTable[];
    const journal = all('select * from journal where ws_id = ? order by seq');
    const approvals = all('select * from approvals where ws_id = ? order by asked_ms') as unknown as ApprovalTable[];
    const counted = all('select message_count from workstreams where ws_id = ?')[0]?.message_count;
    const ledger: Ledger = {
      events: events.map((row) => ({ offset: Number(row.offset), event: JSON.parse(String(row.body_json)) })),
      messages: messages.map((row) => JSON.parse(String(row.body_json))),
      runs: runs.map((run) => ({
        run,
        journal: journal
          .filter((row) => row.run_id === run.run_id)
          .map((row) => ({ kind: row.kind, ...JSON.parse(String(row.body_json)) })),
      })),
      approvals,
    };
    assertDense(
      'event offsets',
      ledger.events.map(({ offset }) => offset),
    );
    assertDense(
      'message numbers',
      messages.map(({ seq }) => Number(seq)),
    );
    assert.equal(counted, messages.length, 'the workstream counts its messages');
    for (const run of ledger.runs) checkRun(run, ledger.events);
    for (const approval of approvals) checkApproval(approval, ledger);
    return ledger;
  } finally {
    db.close();
  }
}

function assertDense(what: string, numbers: number[]): void {
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
    `${what} are dense from 1`,
  );
}

/** One terminal record when it is over, none before; and a tool starts at most once per permission. */
function checkRun({ run, journal }: Ledger['runs'][number], events: Logged[]): void {
  const isOver = run.status !== 'queued' && run.status !== 'running';
  const ends = journal.flatMap((entry) => (entry.kind === 'ended' ? [entry.status] : []));
  const told = events.filter(({ event }) => event.type === 'ws_state' && event.run?.run_id === run.run_id);
  assert.deepEqual(ends, isOver ? [run.status] : [], `terminal records of ${run.run_id}`);
  assert.equal(run.ended_ms !== null, isOver, `${run.run_id} has an end`);
  assert.equal(told.length, isOver && run.started_ms !== null ? 1 : 0, `${run.run_id} is told to have ended once`);
  checkStarts(journal);
}

function checkStarts(journal: JournalEntry[]): void {
  const asked = new Map<string, string[]>();
  const allowed = new Set<string>();
  for (const entry of journal) {
    if (entry.kind === 'approval_asked') asked.set(entry.approvalId, Object.keys(entry.digests));
    for (const callId of permitted(entry, asked)) allowed.add(callId);
    if (entry.kind !== 'tool_started' || entry.safeToRepeat) continue;
    assert.ok(allowed.delete(entry.callId), `${entry.callId} was started without a permission of its own`);
  }
}

/** The calls that an entry allows to start once. */
function permitted(entry: JournalEntry, asked: ReadonlyMap<string, string[]>): string[] {
  if (entry.kind === 'batch_cleared') return Object.keys(entry.digests);
  if (entry.kind === 'approval_decided' && entry.decision.approved) return asked.get(entry.approvalId) ?? [];
  return [];
}

/** Asked once, decided at most once, in the row, the journal and the log alike. */
function checkApproval({ approval_id: id, status, decided_ms: decidedMs }: ApprovalTable, { events, runs }: Ledger) {
  const isOpen = status === 'pending';
  const journal = runs.flatMap((run) => run.journal);
  const asked = events.filter(({ event }) => event.type === 'approve_request' && event.approval_id === id);
  const resolved = events.filter(({ event }) => event.type === 'approval_resolved' && event.approval_id === id);
  const decisions = journal.filter((entry) => entry.kind === 'approval_decided' && entry.approvalId === id);
  assert.equal(decidedMs === null, isOpen, `${id} has a time of decision when it is decided`);
  assert.deepEqual([asked.length, resolved.length], [1, isOpen ? 0 : 1], `${id} is asked once and resolved once`);
  assert.equal(decisions.length, isOpen || status === 'cancelled' ? 0 : 1, `decisions of ${id}`);
}

/** What was said, message by message: `user: hello`. */
export const speechOf = ({ messages }: Ledger): string[] =>
  messages.map((message) => `${message.role}: ${message.role === 'tool' ? message.output.trim() : message.content}`);
