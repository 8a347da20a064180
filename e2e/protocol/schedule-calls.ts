import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';

interface Session {
  call<M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>>;
}

/** A successful call of each method of schedules. */
export function scheduleCalls({ call }: Session) {
  const add = () =>
    call('schedule.create', {
      ...{ name: 'report', scheduleType: 'cron', cronExpr: '0 9 1 1 *', targetMode: 'auto', initialMessage: 'report' },
      enabled: false,
    });
  return {
    'schedule.list': () => call('schedule.list', {}),
    'schedule.create': add,
    'schedule.get': async () => call('schedule.get', { taskId: (await add()).taskId }),
    'schedule.update': async () => call('schedule.update', { taskId: (await add()).taskId, name: 'other' }),
    'schedule.delete': async () => call('schedule.delete', { taskId: (await add()).taskId }),
    'schedule.runs': async () => call('schedule.runs', { taskId: (await add()).taskId }),
  } satisfies Partial<Record<MethodName, () => Promise<unknown>>>;
}
