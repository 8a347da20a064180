import type { Message } from '../../agent/message.ts';
import { taintIn } from '../../agent/run/approval/taint.ts';
import type { Outcome } from '../../cron/occurrence.ts';
import type { RunHandle, RunRecord, RunResult } from '../runs/run-record.ts';
import type { Store, StoredRow } from '../store/store.ts';

const MAX_SUMMARY_CHARS = 2_000;

type MessageStore = Pick<Store, 'db' | 'readMessages'>;

/** What the end of a run means for its job. `stoppedFor`: why the job itself stopped it. */
export async function toOutcome(handle: RunHandle, context: OutcomeContext): Promise<Outcome> {
  const result = await handle.ended;
  const outcome = await toPlainOutcome(handle.run, result, context);
  const taint = await taintOf(handle.run, context.store);
  return { ...outcome, ...(taint && { taint }) };
}

interface OutcomeContext {
  store: MessageStore;
  stoppedFor(): string | undefined;
}

async function toPlainOutcome(
  run: RunRecord,
  result: RunResult,
  { store, stoppedFor }: OutcomeContext,
): Promise<Outcome> {
  switch (result.status) {
    case 'ok': {
      const summary = (await lastWords(run, result, store)).slice(0, MAX_SUMMARY_CHARS);
      const { undeliverable } = run.request;
      if (undeliverable === undefined) return { status: 'ok', summary };
      return { status: 'skipped', summary, error: `Nothing was delivered: ${undeliverable}` };
    }
    case 'cancelled': {
      const reason = stoppedFor();
      return reason === undefined ? { status: 'interrupted', error: 'cancelled' } : { status: 'error', error: reason };
    }
    case 'error':
    case 'timeout':
    case 'incomplete':
      return { status: 'error', error: result.error ?? result.summary };
  }
}

/** The last non-empty text of a run; its last turn may have no text. */
async function lastWords({ runId, wsId }: RunRecord, { summary }: RunResult, store: MessageStore): Promise<string> {
  if (summary.trim() !== '') return summary.trim();
  const { rows } = await newestRows(wsId, store).catch(() => ({ rows: [] })); // the outcome counts even without text
  const end = rows.findLastIndex(({ json }) => json === undefined); // before damage, the last text cannot be determined
  const ofRun = rows.slice(end + 1).filter((row) => row.runId === runId);
  const texts = ofRun.map(({ json = '' }) => textOf(JSON.parse(json)));
  return texts.findLast((text) => text !== '') ?? '';
}

/** Nobody knows what such an answer was made from. */
const UNKNOWN: Outcome['taint'] = { kind: 'summary' };

/** What the run had read at its end that nobody trusts, also in the earlier messages of its context. */
async function taintOf({ runId, wsId }: RunRecord, store: MessageStore): Promise<Outcome['taint']> {
  const found = await newestRows(wsId, store).catch(() => undefined);
  if (found === undefined) return UNKNOWN;
  const { rows, contextAfterSeq } = found;
  const own = rows.filter((row) => row.runId === runId).map(({ seq }) => seq);
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined) return undefined; // only the daemon has written
  const after = Math.min(contextAfterSeq, first - 1); // the context was perhaps cleared since
  const read = rows.filter(({ seq }) => seq > after && seq <= last);
  const { kind, target } = taintIn(read.map(({ json = '{}' }): Message => JSON.parse(json))) ?? {};
  if (kind !== undefined) return { kind, ...(target !== undefined && { target }) };
  const isKnown = read[0]?.seq === after + 1 && read.every(({ json }) => json !== undefined);
  return isKnown ? undefined : UNKNOWN;
}

async function newestRows(
  wsId: string,
  { db, readMessages }: MessageStore,
): Promise<{ rows: StoredRow[]; contextAfterSeq: number }> {
  const columns = ['message_count', 'context_after_seq'] as const;
  const row = await db.selectFrom('workstreams').select(columns).where('ws_id', '=', wsId).executeTakeFirst();
  const rows = await readMessages(wsId, { after: 0, upTo: row?.message_count ?? 0, limit: 1_000 });
  return { rows, contextAfterSeq: row?.context_after_seq ?? 0 };
}

const textOf = (message: Message): string => (message.role === 'assistant' ? message.content.trim() : '');
