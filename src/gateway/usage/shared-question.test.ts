import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { LIVE } from '../testing/default-deps.ts';
import { calling } from '../testing/puppet-model.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** Three workstreams whose runs wait for one question: the budget of the day is used up. Every turn uses 100 tokens. */
async function waiting({ approvalMs = LIVE.approvalMs } = {}) {
  const day = { tokens: 50 };
  const gateway = await wholeGateway({ live: { ...LIVE, approvalMs, budgets: { day } } });
  const main = await gateway.main();
  await gateway.call('workstream.send', { wsId: main, message: 'one' });
  await gateway.isIdle(main);
  const wsIds: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { wsId } = await gateway.call('workstream.create', {});
    await gateway.call('workstream.send', { wsId, message: 'go' });
    await gateway.reaches(wsId, 'approve_request');
    wsIds.push(wsId);
  }
  const approvalId = await theQuestion(gateway);
  return { gateway, day, wsIds, approvalId, [Symbol.asyncDispose]: gateway[Symbol.asyncDispose] };
}

async function theQuestion(gateway: WholeGateway): Promise<string> {
  const { approvals } = await gateway.call('approval.list', {});
  assert.equal(approvals.length, 1);
  return approvals[0]?.approvalId ?? assert.fail('no question');
}

const endOf = async (gateway: WholeGateway, wsId: string) => {
  await gateway.isIdle(wsId);
  const end = (await gateway.events(wsId)).findLast((event) => event.type === 'ws_state');
  return end?.type === 'ws_state' ? end.run?.status : undefined;
};

const tellings = async (gateway: WholeGateway, wsId: string) =>
  (await gateway.events(wsId)).flatMap((event) => {
    if (event.type === 'approve_request') return ['asked'];
    if (event.type !== 'approval_resolved') return [];
    return [event.by.kind === 'cancel' ? 'cancelled' : event.approved ? 'approved' : 'denied'];
  });

test('runs that meet one budget ask one question, which each of them shows, and one answer decides for all', async () => {
  await using world = await waiting();
  const { gateway, wsIds, approvalId } = world;
  for (const wsId of wsIds) {
    const { snapshot } = await gateway.call('workstream.get', { wsId });
    assert.equal(snapshot.workstream.state, 'attention');
    assert.deepEqual(
      snapshot.pendingApprovals.map((pending) => [pending.approvalId, pending.wsId, pending.budget?.of]),
      [[approvalId, wsId, 'day']],
    );
  }
  await gateway.call('approval.resolve', { approvalId, approved: true });
  for (const wsId of wsIds) {
    assert.equal(await endOf(gateway, wsId), 'ok');
    assert.deepEqual(await tellings(gateway, wsId), ['asked', 'approved']);
  }
  const grants = await gateway.store.db.selectFrom('budget_grants').selectAll().execute();
  assert.equal(grants.length, 1);
  assert.equal((await gateway.refusal('approval.resolve', { approvalId, approved: false })).code, 'CONFLICT');
});

test('a person may answer in any of the workstreams, and declines for all', async () => {
  await using world = await waiting();
  const { gateway, wsIds } = world;
  const [, , last = ''] = wsIds;
  await gateway.call('workstream.approve', { wsId: last, approved: false, feedback: 'too dear' });
  for (const wsId of wsIds) {
    assert.equal(await endOf(gateway, wsId), 'error');
    assert.deepEqual(await tellings(gateway, wsId), ['asked', 'denied']);
  }
  assert.deepEqual((await gateway.call('approval.list', {})).approvals, []);
  assert.equal(gateway.puppet.requests.length, 1);
});

test('a run that follows a cancelled one joins the question that others still wait for', async () => {
  await using world = await waiting();
  const { gateway, wsIds, approvalId } = world;
  const [wsId = ''] = wsIds;
  await gateway.call('workstream.cancel', { wsId });
  await gateway.isIdle(wsId);
  await gateway.call('workstream.send', { wsId, message: 'again' });
  await turnsUntil(async () => (await tellings(gateway, wsId)).length === 3, 'the question');
  assert.equal(await theQuestion(gateway), approvalId);
  await gateway.call('approval.resolve', { approvalId, approved: true });
  assert.equal(await endOf(gateway, wsId), 'ok');
  assert.deepEqual(await tellings(gateway, wsId), ['asked', 'cancelled', 'asked', 'approved']);
});

test('a question expires once for all', async () => {
  await using world = await waiting();
  const { gateway, wsIds } = world;
  await gateway.clock.advance(LIVE.approvalMs);
  for (const wsId of wsIds) {
    assert.equal(await endOf(gateway, wsId), 'error');
    assert.deepEqual(await tellings(gateway, wsId), ['asked', 'denied']);
  }
  const rows = await gateway.store.db.selectFrom('approvals').select(['status']).execute();
  assert.deepEqual(rows, [{ status: 'expired' }]);
  assert.deepEqual(
    gateway.log.lines.filter(([level]) => level !== 'info'),
    [],
  );
});

const DAY_MS = 86_400_000;

/** One run had room for its call in the new day. The others have met its budget, and ask one new question. */
async function hasGoneOn({ gateway, wsIds, approvalId }: Awaited<ReturnType<typeof waiting>>): Promise<void> {
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the call of the run that has room');
  await turnsUntil(async () => {
    const told = await Promise.all(wsIds.map((wsId) => tellings(gateway, wsId)));
    return told.filter((telling) => telling.length === 3).length === 2;
  }, 'the next question');
  const { approvals } = await gateway.call('approval.list', {});
  const [next] = approvals;
  assert.equal(approvals.length, 1);
  assert.notEqual(next?.approvalId, approvalId);
  assert.deepEqual([next?.budget?.day, next?.expiresAtMs], ['1970-01-02', 2 * DAY_MS]);
  await gateway.call('approval.resolve', { approvalId: next?.approvalId ?? '', approved: true });
  for (const wsId of wsIds) assert.equal(await endOf(gateway, wsId), 'ok');
  const grants = await gateway.store.db.selectFrom('budget_grants').select(['day']).execute();
  assert.deepEqual(grants, [{ day: '1970-01-02' }], 'nothing was granted for the day before');
}

test('a question about a day ends with the day, and the runs go on with the budget of the next one', async () => {
  await using world = await waiting({ approvalMs: 3 * DAY_MS });
  const { gateway, approvalId } = world;
  assert.equal((await gateway.call('approval.list', {})).approvals[0]?.expiresAtMs, DAY_MS);
  await gateway.clock.leap(DAY_MS - 1 - gateway.clock.now());
  assert.equal(await theQuestion(gateway), approvalId);
  await gateway.clock.advance(1);
  await hasGoneOn(world);
});

test('a question about a day ends, too, if the daemon was down at the end of the day', async () => {
  await using world = await waiting({ approvalMs: 3 * DAY_MS });
  world.gateway.clock.jump(DAY_MS);
  await world.gateway.crash();
  await world.gateway.clock.advance(0);
  await hasGoneOn(world);
});

test('a cancelled run leaves the question to the others, and its workstream can be deleted', async () => {
  await using world = await waiting();
  const { gateway, wsIds, approvalId } = world;
  const [first = '', ...others] = wsIds;
  await gateway.call('workstream.cancel', { wsId: first });
  assert.equal(await endOf(gateway, first), 'cancelled');
  assert.deepEqual(await tellings(gateway, first), ['asked', 'cancelled']);
  await gateway.call('workstream.close', { wsId: first });
  await gateway.call('sessions.delete', { key: first });
  assert.equal(await theQuestion(gateway), approvalId);
  await gateway.crash();
  assert.equal(await theQuestion(gateway), approvalId);
  await gateway.call('approval.resolve', { approvalId, approved: true });
  for (const wsId of others) assert.equal(await endOf(gateway, wsId), 'ok');
});

test('a run that is cancelled while its person answers tells one decision', async () => {
  await using world = await waiting();
  const { gateway, wsIds, approvalId } = world;
  const [first = ''] = wsIds;
  await Promise.all([
    gateway.call('workstream.approve', { wsId: first, approvalId, approved: true }).catch(() => undefined),
    gateway.call('workstream.cancel', { wsId: first }),
  ]);
  assert.equal(await endOf(gateway, first), 'cancelled');
  assert.equal((await tellings(gateway, first)).length, 2);
});

test('when the last run that waits is cancelled, the question ends', async () => {
  await using world = await waiting();
  const { gateway, wsIds, approvalId } = world;
  await Promise.all(wsIds.map((wsId) => gateway.call('workstream.cancel', { wsId, force: true })));
  for (const wsId of wsIds) assert.equal(await endOf(gateway, wsId), 'cancelled');
  assert.deepEqual((await gateway.call('approval.list', {})).approvals, []);
  const rows = await gateway.store.db.selectFrom('approvals').select(['approval_id', 'status']).execute();
  assert.deepEqual(rows, [{ approval_id: approvalId, status: 'cancelled' }]);
});

for (const approved of [true, false]) {
  test(`killed at any write of the answer: all runs follow it, or none (${approved ? 'more' : 'no more'})`, async () => {
    let isOver = false;
    for (let death = 1; !isOver; death += 1) {
      await using world = await waiting();
      const { gateway, day, wsIds, approvalId } = world;
      let writes = 0;
      gateway.disk.diesAt = () => {
        writes += 1;
        return writes >= death;
      };
      void gateway.call('approval.resolve', { approvalId, approved }).catch(() => undefined);
      const isIdle = () => wsIds.every((wsId) => gateway.parts.workstreams.find(wsId, DAEMON)?.busy === false);
      await turnsUntil(() => writes >= death || isIdle(), 'the end');
      isOver = writes < death;
      day.tokens = 1_000_000; // calls that the kill interrupts are counted, too
      await gateway.crash();
      const { approvals } = await gateway.call('approval.list', {});
      const [open] = approvals;
      assert.ok(approvals.length <= 1, `write ${death}`);
      if (open) {
        assert.deepEqual([open.approvalId, death], [approvalId, 1]);
        await gateway.call('approval.resolve', { approvalId, approved });
      }
      for (const wsId of wsIds) {
        assert.equal(await endOf(gateway, wsId), approved ? 'ok' : 'error', `write ${death}`);
        assert.deepEqual(await tellings(gateway, wsId), ['asked', approved ? 'approved' : 'denied'], `write ${death}`);
      }
      const rows = await gateway.store.db.selectFrom('approvals').select('approval_id').execute();
      assert.deepEqual(rows, [{ approval_id: approvalId }], `write ${death}`);
    }
  });
}

test('killed at any write of the last answer: the model is told once, and nobody is asked again', async () => {
  let isOver = false;
  for (let death = 1; !isOver; death += 1) {
    await using gateway = await wholeGateway({ live: { ...LIVE, budgets: { run: { tokens: 80 } } } });
    const wsId = await gateway.main();
    gateway.puppet.turn(calling('look'));
    await gateway.call('workstream.send', { wsId, message: 'one' });
    await gateway.reaches(wsId, 'approve_request');
    const approvalId = await theQuestion(gateway);
    let writes = 0;
    gateway.disk.diesAt = () => {
      writes += 1;
      return writes >= death;
    };
    void gateway.call('approval.resolve', { approvalId, approved: false }).catch(() => undefined);
    await turnsUntil(() => writes >= death || !gateway.mainWorkstream().busy, 'the end');
    isOver = writes < death;
    await gateway.crash();
    const { approvals } = await gateway.call('approval.list', {});
    if (approvals.length > 0) await gateway.call('approval.resolve', { approvalId, approved: false });
    assert.equal(await endOf(gateway, wsId), 'error', `write ${death}`);
    assert.deepEqual(await tellings(gateway, wsId), ['asked', 'denied'], `write ${death}`);
    const told = (await gateway.events(wsId)).filter(
      (event) => event.type === 'info' && event.message === 'The model was told to finish with one short answer.',
    );
    assert.equal(told.length, 1, `write ${death}`);
    const last = gateway.puppet.requests.at(-1)?.messages.at(-1);
    assert.match(last?.role === 'user' ? last.content : '', /must be short/, `write ${death}`);
    const rows = await gateway.store.db.selectFrom('reservations').selectAll().execute();
    assert.deepEqual(rows, [], `write ${death}`);
  }
});

for (const how of ['at once', 'after a restart', 'after a kill'] as const) {
  test(`what a person grants after midnight belongs to the day of the question (${how})`, async () => {
    await using world = await waiting();
    const { gateway, approvalId } = world;
    const { approvals } = await gateway.call('approval.list', {});
    const day = approvals[0]?.budget?.day;
    gateway.clock.jump(86_400_000);
    if (how === 'after a restart') await gateway.restart();
    if (how === 'after a kill') await gateway.crash();
    await gateway.call('approval.resolve', { approvalId, approved: true });
    const [grant] = await gateway.store.db.selectFrom('budget_grants').selectAll().execute();
    assert.equal(grant?.day, day);
    assert.match(day ?? '', /^\d{4}-\d\d-\d\d$/);
  });
}
