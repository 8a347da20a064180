import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../../protocol/errors.ts';
import { Elsewhere, unreachable } from '../elsewhere.ts';
import type { AskOptions, Link } from '../links/link.ts';
import type { CarriedAnswer } from './carried-call.ts';
import { createForwarding, type Forwarding } from './forwarding.ts';

type Asking = Parameters<Forwarding['answer']>[1]['caller'];

const callerWith = (more: Partial<Asking> = {}): Asking => ({
  audited: () => assert.fail('the other machine has not recorded it'),
  momentary: () => undefined,
  principal: undefined,
  signal: new AbortController().signal,
  address: '192.0.2.1',
  interim: () => undefined,
  subscriptions: undefined,
  ...more,
});

type Answer = (body: unknown, options: AskOptions) => Promise<CarriedAnswer>;

/** Machines whose links answer so. */
function world(machines: Record<string, Answer> = {}) {
  const steps: unknown[] = [];
  const asked: { machine: string; what: string; body: unknown }[] = [];
  const linkOf = (machine: string, answer: Answer): Link => ({
    ask(what, body, options = {}) {
      asked.push({ machine, what, body });
      return answer(body, options);
    },
    tell: () => assert.fail('nothing is told'),
    take: () => assert.fail('nothing is taken'),
    ended: new AbortController().signal,
    end: () => assert.fail('it goes on'),
  });
  const links = new Map(Object.entries(machines).map(([machine, answer]) => [machine, linkOf(machine, answer)]));
  const forwarding = createForwarding({
    far: {
      linkTo: (machine) => links.get(machine),
      refusal: (elsewhere) => unreachable(elsewhere.machine ?? '', elsewhere),
      async openLogs(machine, wsIds) {
        steps.push(['opening', machine, ...wsIds]);
        await new Promise(setImmediate);
        steps.push('opened');
      },
      endings: () => 7,
    },
    machines: () => [...links.keys()],
  });
  return { forwarding, steps, asked };
}

const answering =
  (result: unknown, followed: CarriedAnswer['followed'] = []): Answer =>
  async () => ({ result, followed, isRecorded: false });
const CALL = { method: 'workstream.send', params: { wsId: 'w', extra: 1 }, caller: callerWith() };

test('the answer of this daemon passes as it is, at once or later', async () => {
  const { forwarding, asked } = world({ m: answering('other') });
  const result = { own: true };
  assert.equal(
    forwarding.answer(() => result, CALL),
    result,
    'without a promise',
  );
  assert.equal(await forwarding.answer(async () => result, CALL), result);
  assert.deepEqual(asked, []);
});

test('errors of this daemon pass as they are', async () => {
  const { forwarding, asked } = world({ m: answering('other') });
  const error = new GatewayError('NOT_FOUND', 'no such workstream');
  const thrown = () => {
    throw error;
  };
  assert.throws(() => forwarding.answer(thrown, CALL), error);
  await assert.rejects(async () => forwarding.answer(() => Promise.reject(error), CALL), error);
  assert.deepEqual(asked, []);
});

for (const [title, work] of [
  [
    'throws',
    () => {
      throw new Elsewhere('m');
    },
  ],
  ['rejects', () => Promise.reject(new Elsewhere('m'))],
] as const) {
  test(`a call is asked of the machine that has the workstream, with the params as they were sent, if work ${title}`, async () => {
    const { forwarding, asked } = world({ m: answering({ status: 'accepted' }), n: answering('other') });
    const { signal: ended } = new AbortController();
    const principal = {
      id: 'token of ada',
      scopes: new Set(['read', 'write'] as const),
      permissions: new Set(['tools.approve'] as const),
      userId: 'ada',
      source: { kind: 'token', tokenId: 't' } as const,
      ended,
    };
    const caller = callerWith({ principal, requestId: 'r' });
    assert.deepEqual(await forwarding.answer(work, { ...CALL, caller }), { status: 'accepted' });
    const { ended: _, ...written } = principal;
    const carried = { ...written, scopes: ['read', 'write'], permissions: ['tools.approve'] };
    assert.deepEqual(asked, [
      {
        machine: 'm',
        what: 'call',
        body: {
          method: 'workstream.send',
          params: { wsId: 'w', extra: 1 },
          caller: { address: '192.0.2.1', requestId: 'r', principal: carried },
        },
      },
    ]);
  });
}

test('a workstream whose machine has no link cannot be reached now', async () => {
  const { forwarding } = world({ other: answering('x') });
  const answer = async () => forwarding.answer(() => Promise.reject(new Elsewhere('gone')), CALL);
  await assert.rejects(answer, { name: 'GatewayError', code: 'UNAVAILABLE', retryable: true, retryAfterMs: 1_000 });
});

test('refusals of the other machine pass as they are', async () => {
  const refusal = new GatewayError('CONFLICT', 'it is busy');
  const { forwarding } = world({ m: () => Promise.reject(refusal) });
  await assert.rejects(async () => forwarding.answer(() => Promise.reject(new Elsewhere('m')), CALL), refusal);
});

test('a workstream that has left its machine meanwhile cannot be reached now', async () => {
  for (const machine of ['another', null]) {
    const { forwarding } = world({ m: () => Promise.reject(new Elsewhere(machine)) });
    const answer = async () => forwarding.answer(() => Promise.reject(new Elsewhere('m')), CALL);
    await assert.rejects(answer, { name: 'GatewayError', code: 'UNAVAILABLE', retryable: true });
  }
});

test('a workstream that moves while it is looked for is found at its new machine, or here', async () => {
  const moved = () => Promise.reject(new Elsewhere('any other'));
  for (const [next, answer] of [
    [() => Promise.reject(new Elsewhere('n')), 'there'],
    [async () => 'here', 'here'],
  ] as const) {
    const { forwarding, asked } = world({ m: moved, n: answering('there') });
    const looks = [() => Promise.reject(new Elsewhere('m')), next];
    assert.equal(await forwarding.answer(() => looks.shift()?.(), CALL), answer);
    assert.deepEqual([looks, asked[0]?.machine], [[], 'm']);
  }
});

test('an answer of this daemon is stored here, also if the workstream was looked for at another machine before', async () => {
  const caller = callerWith({ momentary: () => assert.fail('it would not be stored') });
  const { forwarding } = world({ m: () => Promise.reject(new Elsewhere(null)) });
  const looks = [() => Promise.reject(new Elsewhere('m')), async () => 'here'];
  assert.equal(await forwarding.answer(() => looks.shift()?.(), { ...CALL, caller }), 'here');
});

test('the other machine is told when the caller goes, and its first answer reaches the caller', async () => {
  const gone = new AbortController();
  const interims: unknown[] = [];
  const { forwarding } = world({
    async m(_, { signal, onInterim }) {
      onInterim?.('early');
      gone.abort();
      return { result: signal?.aborted, followed: [], isRecorded: false };
    },
  });
  const caller = callerWith({ signal: gone.signal, interim: (body) => void interims.push(body) });
  assert.equal(await forwarding.answer(() => Promise.reject(new Elsewhere('m')), { ...CALL, caller }), true);
  assert.deepEqual(interims, ['early']);
});

test('logs that the caller follows are opened here before they are followed, from what had ended before', async () => {
  const about = { wsId: 'w', ownerId: 'ada', visibility: 'private' } as const;
  const other = { ...about, wsId: 'v' };
  const { forwarding, steps } = world({
    m: answering('done', [
      { about, offset: 3 },
      { about: other, offset: 0 },
    ]),
  });
  const subscriptions = {
    add: (...added: unknown[]) => void steps.push(added),
    remove: () => false,
  };
  const caller = callerWith({ subscriptions });
  assert.equal(await forwarding.answer(() => Promise.reject(new Elsewhere('m')), { ...CALL, caller }), 'done');
  assert.deepEqual(steps, [['opening', 'm', 'w', 'v'], 'opened', [about, 3, 7], [other, 0, 7]]);
});

test('a call that the handler of the other machine has recorded is not recorded again', async () => {
  let recorded = 0;
  const audited = () => {
    recorded += 1;
    return [];
  };
  const { forwarding } = world({ m: async () => ({ result: 1, followed: [], isRecorded: true }) });
  const caller = callerWith({ audited });
  assert.equal(await forwarding.answer(() => Promise.reject(new Elsewhere('m')), { ...CALL, caller }), 1);
  assert.equal(recorded, 1);
});

test('the answer of another machine is not stored here, because that machine stores it if it is final', async () => {
  const marks: string[] = [];
  const caller = callerWith({ momentary: () => void marks.push('momentary') });
  const { forwarding } = world({ m: async () => ({ result: { busy: true }, followed: [], isRecorded: false }) });
  await forwarding.answer(async () => 'own', { ...CALL, caller });
  assert.deepEqual(marks, [], 'an answer of this daemon is');
  await forwarding.answer(() => Promise.reject(new Elsewhere('m')), { ...CALL, caller });
  assert.deepEqual(marks, ['momentary']);
});

test('lists are merged, that of this daemon first, and a machine that fails is left out', async () => {
  const item = (wsId: string, createdMs: number) => ({ wsId, createdMs });
  const { forwarding, asked } = world({
    m: answering({ workstreams: [item('b', 2), item('d', 4)] }),
    failing: () => Promise.reject(new GatewayError('UNAVAILABLE', 'lost')),
    n: answering({ workstreams: [item('c', 3)] }),
  });
  const list = { method: 'workstream.list', params: {}, caller: callerWith() };
  const own = { workstreams: [item('a', 1), item('e', 5)] };
  for (const work of [() => own, async () => own]) {
    const merged = await forwarding.answer(work, list);
    assert.deepEqual(merged, { workstreams: ['a', 'b', 'c', 'd', 'e'].map((wsId, index) => item(wsId, index + 1)) });
  }
  assert.equal(asked.length, 6);
});

test('a list is that of this daemon alone while no machine has joined, and fails if this daemon fails', async () => {
  const list = { method: 'workstream.list', params: {}, caller: callerWith() };
  const own = { workstreams: [] };
  assert.equal(
    world().forwarding.answer(() => own, list),
    own,
  );
  const { forwarding, asked } = world({ m: answering({ workstreams: [] }) });
  const refusal = new GatewayError('FORBIDDEN', 'no');
  await assert.rejects(async () => forwarding.answer(() => Promise.reject(refusal), list), refusal);
  assert.deepEqual(asked, []);
});
