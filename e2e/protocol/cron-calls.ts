import assert from 'node:assert/strict';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
}

/** A successful call of each method of jobs. */
export function cronCalls({ call }: Session) {
  async function newJob(): Promise<string> {
    const { id } = await call('cron.add', {
      schedule: { kind: 'every', everyMs: 86_400_000 },
      sessionTarget: 'main',
      wakeMode: 'next-heartbeat',
      payload: { kind: 'systemEvent', text: 'a day has passed' },
    });
    return id;
  }

  return {
    'cron.list': () => call('cron.list', { includeDisabled: true, extended: true }),
    'cron.status': () => call('cron.status', {}),
    'cron.add': () => newJob(),
    'cron.update': async () => call('cron.update', { id: await newJob(), patch: { enabled: false, name: 'asleep' } }),
    'cron.remove': async () => call('cron.remove', { id: await newJob() }),
    'cron.run': async () => call('cron.run', { id: await newJob(), mode: 'force' }),
    async 'cron.runs'() {
      const id = await newJob();
      await call('cron.run', { id, mode: 'force' });
      assert.equal((await call('cron.runs', { id })).entries[0]?.status, 'ok');
    },
    'cron.preview': () => call('cron.preview', { schedule: 'every 15m', count: 3 }),
    'cron.calendar': () => call('cron.calendar', { fromMs: 0, untilMs: 7 * 86_400_000 }),
    'cron.explain': async () => call('cron.explain', { id: await newJob() }),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
