import type { Message } from '../../agent/message.ts';
import type { Outcome } from '../../cron/occurrence.ts';
import type { Store } from '../store/store.ts';
import type { RunHandle, RunResult } from '../workstreams/run-record.ts';

const MAX_SUMMARY_CHARS = 2_000;

/** What the end of a run means for its job. `stoppedFor`: why the job itself has stopped it. */
export async function toOutcome(
  { run, ended }: RunHandle,
  { db, stoppedFor }: { db: Store['db']; stoppedFor(): string | undefined },
): Promise<Outcome> {
  const result = await ended;
  switch (result.status) {
    case 'ok': {
      const summary = (await lastWords(result, db)).slice(0, MAX_SUMMARY_CHARS);
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
      return { status: 'error', error: result.error ?? result.summary };
  }
}

/** The last text of a run that says something; its last turn may have said nothing. */
async function lastWords({ run_id, summary }: RunResult, db: Store['db']): Promise<string> {
  if (summary.trim() !== '') return summary.trim();
  const rows = await db
    .selectFrom('messages')
    .select('body_json')
    .where('run_id', '=', run_id)
    .orderBy('seq', 'desc')
    .limit(1_000)
    .execute()
    .catch(() => []); // an outcome without words is one all the same
  const messages = rows.map(({ body_json }): Message => JSON.parse(body_json));
  const texts = messages.map((message) => (message.role === 'assistant' ? message.content.trim() : ''));
  return texts.find((text) => text !== '') ?? '';
}
