import type { Message } from '../../agent/message.ts';
import type { Outcome } from '../../cron/occurrence.ts';
import type { RunHandle, RunRecord, RunResult } from '../runs/run-record.ts';
import type { Store, StoredRow } from '../store/store.ts';

const MAX_SUMMARY_CHARS = 2_000;

type MessageStore = Pick<Store, 'db' | 'readMessages'>;

/** What the end of a run means for its job. `stoppedFor`: why the job itself stopped it. */
export async function toOutcome(
  { run, ended }: RunHandle,
  { store, stoppedFor }: { store: MessageStore; stoppedFor(): string | undefined },
): Promise<Outcome> {
  const result = await ended;
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
  const rows = await newestRows(wsId, store).catch(() => []); // the outcome counts even without text
  const end = rows.findLastIndex(({ json }) => json === undefined); // before damage, the last text cannot be determined
  const ofRun = rows.slice(end + 1).filter((row) => row.runId === runId);
  const texts = ofRun.map(({ json = '' }) => textOf(JSON.parse(json)));
  return texts.findLast((text) => text !== '') ?? '';
}

async function newestRows(wsId: string, { db, readMessages }: MessageStore): Promise<StoredRow[]> {
  const row = await db.selectFrom('workstreams').select('message_count').where('ws_id', '=', wsId).executeTakeFirst();
  return readMessages(wsId, { after: 0, upTo: row?.message_count ?? 0, limit: 1_000 });
}

const textOf = (message: Message): string => (message.role === 'assistant' ? message.content.trim() : '');
