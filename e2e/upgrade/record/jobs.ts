import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import { fail, say } from '../../support/model/scripted-steps.ts';
import { bash } from './conversations.ts';
import type { Recording } from './recording.ts';

const DAY_MS = 86_400_000;
const JANUARY_2030 = Date.UTC(2030, 0, 1);

type Job = ParamsInput<'cron.add'>;

export const turn = (message: string, more: Partial<Job> = {}): Job => ({
  schedule: { kind: 'at', atMs: JANUARY_2030 },
  sessionTarget: 'isolated',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'agentTurn', message },
  ...more,
});

/** A test repeats the call that adds this job. */
export const DISABLED: Job = turn('never', { enabled: false });

/** Records jobs of every kind with the results of their runs. */
export async function jobs({ daemon, model, secrets }: Recording): Promise<void> {
  const client = await daemon.client();
  const add = (name: string, job: Job) => addJob(client, name, job);
  const run = (id: string) => client.call('cron.run', { id, mode: 'force' }, { timeoutMs: 60_000 });
  model.when('water the beds', say('The beds are wet.'));
  const morning = await add('morning', {
    ...turn('water the beds', { schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' } }),
    ...{ isolation: { postToMainPrefix: 'Garden' }, misfire: { within: 7_200_000 }, maxRunMs: 600_000 },
  });
  for (let n = 1; n <= 2; n += 1) await run(morning);
  await client.call('cron.update', { id: morning, patch: { name: 'dawn', misfire: { all: 3 } } });

  model.when('count the snails', fail(400, { message: 'no snails today' }));
  const failing = await add('failing', turn('count the snails', { schedule: { kind: 'every', everyMs: DAY_MS } }));
  for (let n = 1; n <= 3; n += 1) await run(failing);

  model.when('mow the lawn', bash('rm -r lawn'), say('I may not.'));
  await run(await add('unattended', turn('mow the lawn', { approval: { mode: 'deny' } })));
  model.when('rake the leaves', bash('echo raked'), say('Raked.'));
  await run(await add('allowed', turn('rake the leaves', { approval: { mode: 'allow', tools: ['bash'] } })));

  const line: Job = {
    ...{ schedule: { kind: 'every', everyMs: 7 * DAY_MS }, sessionTarget: 'main', wakeMode: 'next-heartbeat' },
    payload: { kind: 'systemEvent', text: 'The compost is due.' },
  };
  await run(await add('line', line));
  await add('disabled', DISABLED);
  model.when('plant a tree', say('Planted.'));
  const removed = await add('removed', turn('plant a tree'));
  await run(removed);
  await client.call('cron.remove', { id: removed });
  secrets.removedJob = removed;
  client.close();
}

/** Adds two one-time jobs that come due while no daemon runs, one of them after the recording. */
export async function jobsAt(client: GatewayClient, due: { missedMs: number; laterMs: number }): Promise<void> {
  const at = (atMs: number, more: Partial<Job>) =>
    turn('look at the clock', { schedule: { kind: 'at', atMs }, ...more });
  await addJob(client, 'missed', at(due.missedMs, { misfire: 'skip' }));
  await addJob(client, 'later', at(due.laterMs, { misfire: 'once' }));
}

export async function addJob(client: GatewayClient, name: string, job: Job): Promise<string> {
  return (await client.call('cron.add', { ...job, name, idempotencyKey: `add ${name}` })).id;
}
