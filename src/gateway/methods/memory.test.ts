import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTRACTS, type ParamsInput, type Result } from '../../../protocol/index.ts';
import type { memoryContracts } from '../../../protocol/methods/memory.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import type { AuditDetail } from '../audit/audit-record.ts';
import type { Principal } from '../auth/principal.ts';
import type { Call, Handlers } from '../call.ts';
import { openMemories } from '../memories/open-memories.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { callerOf } from '../testing/whole-gateway.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { memoryMethods } from './memory.ts';

type Method = keyof typeof memoryContracts;

async function setUp() {
  const clock = fakeClock(1_000);
  const store = await tempStore({ clock });
  const workstream = toWorkstreamRow({ wsId: 'w1', owned: OF_EVERYONE, workdir: '', nowMs: 0 });
  await store.commit({ statements: [insertWorkstream(workstream)] });
  const settings = { relevanceK: 5, fetchLimit: 50, maxContent: 32_768, nudges: false, nudgeCooldownSecs: 0 };
  const opened = openMemories({ store, clock, ids: randomIds, log: recordingLog(), settings: () => settings });
  const methods = memoryMethods(opened);
  const audited: AuditDetail[] = [];
  const record = (detail: AuditDetail = {}) => {
    audited.push(detail);
    return [];
  };
  /** Params are parsed and results checked as dispatch does. */
  const as = (userId?: string) => {
    const caller = callerOf();
    const principal: Principal = { ...(caller.principal as Principal), ...(userId !== undefined && { userId }) };
    const call: Call = {
      ...{ ...caller, principal, kept: undefined, keep: () => [], audited: record, momentary: () => undefined },
      perform: async () => undefined,
    };
    return async <M extends Method>(method: M, params: ParamsInput<M>): Promise<Result<M>> => {
      const { params: input, result } = CONTRACTS[method];
      const handler = methods[method] as Handlers[M]; // one of nine
      return result().parse(await handler(input().parse(params) as never, call)) as Result<M>;
    };
  };
  return { as, audited, [Symbol.asyncDispose]: () => store.close() };
}

test('a name is found in each form in which it can be written', async () => {
  await using world = await setUp();
  const call = world.as();
  await call('memory.save', { name: ' Indent-with Tabs ', content: 'yes' });
  assert.deepEqual(
    [
      (await call('memory.get', { name: 'INDENT WITH-TABS' })).name,
      await call('memory.delete', { name: 'indent_with_tabs' }),
    ],
    ['indent_with_tabs', { status: 'ok', name: 'indent_with_tabs' }],
  );
});

test('invalid fields are refused with the words of the specification', async () => {
  await using world = await setUp();
  const call = world.as('u1');
  const memory = { name: 'x', content: 'y' };
  const refusals: [object, string][] = [
    [{ name: ' ' }, 'name is required (max 256 characters)'],
    [{ name: 'n'.repeat(257) }, 'name is required (max 256 characters)'],
    [
      { name: 'a\nb' },
      'name must be one line without control characters or characters that change the writing direction',
    ],
    [{ content: '' }, 'content is required'],
    [{ content: 'c'.repeat(65_537) }, 'content exceeds 65536 character limit'],
    [{ type: 'secret' }, 'invalid type; use one of: user, project, feedback, reference'],
    [{ scope: 'team' }, 'invalid scope; use one of: global, workstream, user'],
    [{ scope: 'global', scopeId: 'w' }, 'scope_id is not allowed with global scope'],
    [{ scopeId: 'w' }, 'scope is required when scope_id is provided'],
    [{ scope: 'workstream' }, 'scope_id is required for workstream scope'],
  ];
  for (const [wrong, message] of refusals)
    await assert.rejects(call('memory.save', { ...memory, ...wrong }), { code: 'INVALID_REQUEST', message });
  await assert.rejects(call('memory.search', { query: ' ' }), {
    code: 'INVALID_REQUEST',
    message: 'query is required',
  });
  assert.deepEqual(await call('memory.admin.list', {}), { memories: [], total: 0 });
});

test('characters outside the basic plane count once', async () => {
  await using world = await setUp();
  const content = '🚀'.repeat(65_536);
  const { memory } = await world.as()('memory.save', { name: '🚀'.repeat(256), content });
  assert.equal(memory.content, content);
});

test('memories of a user are out of reach for others, by name, in lists and in searches', async () => {
  await using world = await setUp();
  const [ada, bob, operator] = [world.as('ada'), world.as('bob'), world.as()];
  const { memory } = await ada('memory.save', { name: 'pet', content: 'a cat', scope: 'user' });
  await bob('memory.save', { name: 'pet', content: 'a dog', scope: 'user', scopeId: 'bob' });
  const foreign = { code: 'FORBIDDEN', message: "Cannot access another user's memories" };
  const theirs = { scope: 'user', scopeId: 'ada' };
  await assert.rejects(bob('memory.get', { name: 'pet', ...theirs }), foreign);
  await assert.rejects(bob('memory.delete', { name: 'pet', ...theirs }), foreign);
  await assert.rejects(bob('memory.save', { name: 'pet', content: 'x', ...theirs }), foreign);
  await assert.rejects(bob('memory.list', theirs), foreign);
  await assert.rejects(bob('memory.search', { query: 'cat', ...theirs }), foreign);
  await assert.rejects(operator('memory.list', theirs), { code: 'INVALID_REQUEST' });
  await assert.rejects(operator('memory.list', { scope: 'user' }), { code: 'INVALID_REQUEST' });
  assert.deepEqual(
    [
      memory.scopeId,
      (await bob('memory.list', {})).memories.map(({ content }) => content),
      (await bob('memory.search', { query: 'cat' })).total,
      (await operator('memory.search', { query: 'cat' })).total,
      (await operator('memory.admin.search', { query: 'cat' })).total,
      (await ada('memory.get', { name: 'pet', scope: 'user' })).content,
    ],
    ['ada', ['a dog'], 0, 0, 1, 'a cat'],
  );
});

test('what is recorded of a change names the memory and not its text, and one of a workstream by its id alone', async () => {
  await using world = await setUp();
  const call = world.as();
  const place = { scope: 'workstream', scopeId: 'w1' } as const;
  const { memory } = await call('memory.save', { name: 'a', content: 'secret', description: 'secret', ...place });
  await call('memory.save', { name: 'a', content: 'secret 2', ...place });
  await call('memory.delete', { name: 'a', ...place });
  const { memory: second } = await call('memory.save', { name: 'b', content: 'secret' });
  await call('memory.admin.delete', { memoryId: second.memoryId });
  const first = { id: memory.memoryId, ...place };
  const other = { id: second.memoryId, name: 'b', scope: 'global', scopeId: '' };
  assert.deepEqual(world.audited, [first, first, first, other, other]);
});

test('administrators filter by scope without its owner, too, and unknown ids are not found', async () => {
  await using world = await setUp();
  const [ada, admin] = [world.as('ada'), world.as('root')];
  await ada('memory.save', { name: 'pet', content: 'a cat', scope: 'user' });
  await ada('memory.save', { name: 'build', content: 'with make', type: 'reference' });
  const listed = async (params: ParamsInput<'memory.admin.list'>) =>
    (await admin('memory.admin.list', params)).memories.map(({ name }) => name);
  assert.deepEqual(await Promise.all([{}, { scope: 'user' }, { scopeId: 'ada' }, { type: 'reference' }].map(listed)), [
    ['build', 'pet'],
    ['pet'],
    ['pet'],
    ['build'],
  ]);
  const unknown = { code: 'NOT_FOUND', message: 'Memory not found' };
  await assert.rejects(admin('memory.admin.get', { memoryId: 'mem_x' }), unknown);
  await assert.rejects(admin('memory.admin.delete', { memoryId: 'mem_x' }), unknown);
});
