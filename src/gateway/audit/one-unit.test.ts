import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Contract } from '../../../protocol/contract.ts';
import { CONTRACTS, type ParamsInput } from '../../../protocol/index.ts';
import type { ServedMethod } from '../call.ts';
import type { Unit } from '../store/store.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const JOB = {
  schedule: { kind: 'every', everyMs: 3_600_000 },
  sessionTarget: 'isolated',
  wakeMode: 'now',
  payload: { kind: 'agentTurn', message: 'look around' },
} as const;

interface Deed<M extends ServedMethod = ServedMethod> {
  method: M;
  /** Prepares the call, which would change something. */
  params(world: WholeGateway): ParamsInput<M> | Promise<ParamsInput<M>>;
}

const deed = <M extends ServedMethod>(method: M, params: Deed<M>['params']): Deed => ({ method, params });

const jobId = async ({ call }: WholeGateway) => (await call('cron.add', JOB)).id;

async function paired({ nodes }: WholeGateway): Promise<string> {
  await nodes.paired.approve({ requestId: 'earlier', nodeId: 'box', isRepair: false, ts: 1 }, 'ada');
  return 'box';
}

const DEEDS: readonly Deed[] = [
  deed('cron.add', () => JOB),
  deed('cron.update', async (world) => ({ id: await jobId(world), patch: { name: 'another' } })),
  deed('cron.remove', async (world) => ({ id: await jobId(world) })),
  deed('cron.run', async (world) => ({ id: await jobId(world), mode: 'force' as const, wait: false })),
  deed('node.pair.approve', ({ nodes }) => {
    const { request } = nodes.requests.ask({ nodeId: 'new', isRepair: false, commands: ['camera.snap'] }, undefined);
    return { requestId: request.requestId };
  }),
  deed('node.rename', async (world) => ({ nodeId: await paired(world), displayName: 'another' })),
  deed('node.token.rotate', async (world) => ({ nodeId: await paired(world) })),
  deed('node.token.revoke', async (world) => ({ nodeId: await paired(world) })),
  deed('workstream.delete', async ({ call }) => ({ wsId: (await call('workstream.create', {})).wsId })),
  deed('sessions.delete', async ({ call }) => ({
    key: (await call('workstream.create', {})).wsId,
    deleteTranscript: true,
  })),
  deed('budget.set', async ({ main }) => ({ wsId: await main(), tokens: 7 })),
];

const TABLES = ['workstreams', 'cron_jobs', 'cron_occurrences', 'nodes', 'workstream_budgets'] as const;

const stored = async ({ store }: WholeGateway) =>
  Promise.all(TABLES.map((table) => store.db.selectFrom(table).selectAll().execute()));

const recorded = async ({ store }: WholeGateway, action: string): Promise<string[]> => {
  const rows = await store.db.selectFrom('audit').select('body_json').where('action', '=', action).execute();
  return rows.map(({ body_json }) => JSON.parse(body_json).outcome);
};

const writesRecord = ({ statements = [] }: Unit): boolean =>
  statements.some(({ sql }) => /^insert into "?audit"?/i.test(sql));

/** Some calls are recorded under the name of another. */
const actionOf = (method: ServedMethod): string => {
  const row: Contract = CONTRACTS[method];
  return row.audit?.action ?? assert.fail(method);
};

for (const { method, params } of DEEDS) {
  const action = actionOf(method);
  test(`${method} and its record are one unit: where the record cannot be stored, nothing changes`, async () => {
    await using world = await wholeGateway();
    const asked = await params(world);
    const [before, earlier] = [await stored(world), await recorded(world, action)];
    world.disk.fails = writesRecord;
    await world.refusal(method, asked);
    world.disk.fails = undefined;
    assert.deepEqual([await stored(world), await recorded(world, action)], [before, earlier]);
  });

  test(`${method} is recorded once`, async () => {
    await using world = await wholeGateway();
    const asked = await params(world);
    const earlier = await recorded(world, action);
    await world.call(method, asked);
    assert.deepEqual(await recorded(world, action), [...earlier, 'ok']);
  });
}
