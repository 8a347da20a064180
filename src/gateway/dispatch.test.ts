import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Contract, Scope } from '../../protocol/contract.ts';
import { GatewayError } from '../../protocol/errors.ts';
import { CONTRACTS, type MethodName } from '../../protocol/index.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog } from '../testing/temp-store.ts';
import type { Call, Caller, Handlers } from './call.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { createFrameCheck } from './frame-check.ts';
import type { KeyedRequest } from './idempotency.ts';
import { ALL_PERMISSIONS } from './users/grant.ts';

function setUp(handlers: Partial<Handlers> = {}) {
  const log = recordingLog();
  const outcomes: [string, string][] = [];
  const keyed: KeyedRequest[] = [];
  const invalid: string[] = [];
  const dispatch = createDispatch({
    handlers,
    idempotency: {
      async answer(request, work) {
        keyed.push(request);
        return work({ kept: 'before', keep: () => [], momentary: () => undefined });
      },
    },
    metrics: { request: (method, outcome) => void outcomes.push([method, outcome]) },
    check: createFrameCheck({ every: 1, onInvalid: (method) => void invalid.push(method) }),
    clock: fakeClock(),
    log,
  });
  const inTime = async (...call: Parameters<Dispatch>) => dispatch(...call);
  return { dispatch: inTime, atOnce: dispatch, log, outcomes, keyed, invalid };
}

function callerWith(...scopes: Scope[]): Caller {
  const ended = new AbortController().signal;
  return {
    principal: {
      id: 'ada',
      scopes: new Set(scopes),
      permissions: ALL_PERMISSIONS,
      source: { kind: 'operator' },
      ended,
    },
    signal: ended,
    address: '127.0.0.1',
    interim: () => undefined,
    subscriptions: undefined,
  };
}

const stranger: Caller = { ...callerWith(), principal: undefined };
const list = () => ({ workstreams: [] });
const refusal = (code: string, message: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatewayError);
  assert.equal(error.code, code);
  assert.match(error.message, typeof message === 'string' ? new RegExp(`^${message}$`) : message);
  return true;
};

test('a handler gets its params with defaults filled in, and its answer is the answer', async () => {
  const got: unknown[] = [];
  const { dispatch, outcomes } = setUp({
    'workstream.list'(params) {
      got.push(params);
      return list();
    },
  });
  assert.deepEqual(await dispatch('workstream.list', undefined, callerWith('read')), list());
  assert.deepEqual([got, outcomes], [[{}], [['workstream.list', 'ok']]]);
});

test('a synchronous result is returned directly; a result that takes time, or an error, as a promise', async () => {
  const { atOnce, outcomes } = setUp({
    'workstream.list': list,
    health: async () => ({ ok: true }) as never, // its answer is not checked
  });
  assert.deepEqual(atOnce('workstream.list', {}, callerWith('read')), list());
  const later = [atOnce('health', {}, callerWith('read')), atOnce('workstream.list', {}, stranger)];
  assert.ok(later.every((answer) => answer instanceof Promise));
  const ends = await Promise.allSettled(later);
  assert.deepEqual(
    [ends.map(({ status }) => status), outcomes.toSorted()],
    [
      ['fulfilled', 'rejected'],
      [
        ['health', 'ok'],
        ['workstream.list', 'UNAUTHORIZED'],
        ['workstream.list', 'ok'],
      ],
    ],
  );
});

for (const method of ['nope', '__proto__', 'constructor', 'toString', 'workstream.send']) {
  test(`${method} is not a method`, async () => {
    const { dispatch } = setUp({ 'workstream.list': list });
    await assert.rejects(
      dispatch(method, {}, callerWith('approve')),
      refusal('INVALID_REQUEST', `unknown method: ${method}`),
    );
  });
}

test('an unknown name does not become a label, and is not echoed in full', async () => {
  const { dispatch, outcomes } = setUp();
  await assert.rejects(dispatch('x'.repeat(10_000), {}, stranger), (error: Error) => error.message.length < 200);
  assert.deepEqual(outcomes, [['unknown', 'INVALID_REQUEST']]);
});

test('without a credential only public methods can be called', async () => {
  const { dispatch } = setUp({
    'workstream.list': list,
    'auth.status': () => ({
      ...{ authenticated: false, authEnabled: true, hasUsers: false, setupRequired: true, setupCodeNeeded: false },
      ...{ passwordEnabled: true, oidc: null, userId: null, scopes: [], source: null },
    }),
  });
  await assert.rejects(dispatch('workstream.list', {}, stranger), refusal('UNAUTHORIZED', 'unauthorized'));
  assert.ok(await dispatch('auth.status', {}, stranger));
});

test('an answer that does not match its row is reported and sent anyway', async () => {
  const wrong = { workstreams: [{ name: 'no id' }] };
  const { dispatch, invalid } = setUp({
    'workstream.list': () => wrong as never, // an answer with a mistake of ours
    'models.list': async () => ({ models: [] }),
  });
  assert.equal(await dispatch('workstream.list', {}, callerWith('read')), wrong);
  await dispatch('models.list', {}, callerWith('read'));
  assert.deepEqual(invalid, ['workstream.list']);
});

test('the first of two answers, and errors, are checked too', async () => {
  const { dispatch, invalid } = setUp({
    async agent({ message }, call) {
      call.interim(message === 'odd' ? { surprise: 1 } : { runId: 'r', status: 'accepted' });
      throw new GatewayError('BUSY', message === 'odd' ? '' : 'later');
    },
  });
  const ask = (message: string) => dispatch('agent', { message, idempotencyKey: 'k' }, callerWith('write'));
  await assert.rejects(ask('fine'));
  assert.deepEqual(invalid, []);
  await assert.rejects(ask('odd'));
  assert.deepEqual(invalid, ['agent', 'agent']);
});

test('rights are checked before params', async () => {
  const { dispatch } = setUp({ 'workstream.list': list });
  await assert.rejects(dispatch('workstream.list', { nope: 1 }, stranger), refusal('UNAUTHORIZED', /./));
});

const EVERY_SCOPE: Scope[] = ['read', 'write', 'approve', 'node', 'pairing', 'service'];
const REACHED_BY: Record<Scope, Scope[]> = {
  public: ['read', 'write', 'approve', 'service'],
  read: ['read', 'write', 'approve'],
  write: ['write', 'approve'],
  approve: ['approve'],
  node: ['node'],
  pairing: ['approve', 'pairing'],
  service: ['service'],
};

for (const [method, { scope }] of Object.entries(CONTRACTS)) {
  if (method === 'connect') continue;
  test(`${method} can be called with ${REACHED_BY[scope].join(', ')}, and no other scope`, async () => {
    const { dispatch } = setUp({ [method]: () => 'reached' });
    const reached: Scope[] = [];
    for (const held of EVERY_SCOPE) {
      const error = await dispatch(method, { bad: 1 }, callerWith(held)).catch((refused: GatewayError) => refused);
      if (!(error instanceof GatewayError && error.code === 'FORBIDDEN')) reached.push(held);
      else assert.equal(error.message, `${method} needs the ${scope} scope`);
    }
    assert.deepEqual(reached, REACHED_BY[scope]);
  });
}

const PERMITTED = Object.entries<Contract>(CONTRACTS).flatMap(([method, { permission }]) =>
  permission === undefined ? [] : [{ method, anyOf: [permission].flat() }],
);

for (const { method, anyOf } of PERMITTED) {
  test(`${method} cannot be called without ${anyOf.join(' or ')}, whatever the scope`, async () => {
    const { dispatch } = setUp({ [method]: () => assert.fail('not reached') });
    const caller = callerWith('approve');
    const permissions = new Set([...ALL_PERMISSIONS].filter((held) => !anyOf.includes(held)));
    const without = { ...caller, principal: caller.principal && { ...caller.principal, permissions } };
    await assert.rejects(dispatch(method, {}, without), {
      code: 'FORBIDDEN',
      message:
        anyOf.length === 1
          ? `Forbidden: missing '${anyOf[0]}' permission`
          : `Forbidden: missing one of ${anyOf.map((each) => `'${each}'`).join(', ')}`,
    });
  });
}

test('invalid params are named without echoing them', async () => {
  const { dispatch } = setUp({ 'workstream.create': () => assert.fail('not reached') });
  const params = { name: 7, secret: 'hunter2' };
  await assert.rejects(dispatch('workstream.create', params, callerWith('write')), (error: GatewayError) => {
    assert.equal(error.code, 'INVALID_REQUEST');
    assert.match(
      error.message,
      /^invalid workstream\.create params: name: must be a string, not a number; unknown property "secret"$/,
    );
    assert.doesNotMatch(JSON.stringify(error), /hunter2/);
    return true;
  });
});

for (const params of [null, [], 'text', 7]) {
  test(`params ${JSON.stringify(params)} are refused if the row requires an object`, async () => {
    const { dispatch } = setUp({ 'workstream.list': list });
    await assert.rejects(
      dispatch('workstream.list', params, callerWith('read')),
      refusal('INVALID_REQUEST', /^invalid /),
    );
  });
}

test('a key called __proto__ in params is an unknown property like any other', async () => {
  const { dispatch } = setUp({ 'workstream.list': list });
  const params: unknown = JSON.parse('{"__proto__": {"admin": true}}');
  await assert.rejects(
    dispatch('workstream.list', params, callerWith('read')),
    refusal('INVALID_REQUEST', /__proto__/),
  );
});

test('an error that is not a GatewayError is logged and hidden from the client', async () => {
  const { dispatch, log, outcomes } = setUp({
    'workstream.list'() {
      throw new Error('SELECT secret FROM vault');
    },
  });
  await assert.rejects(dispatch('workstream.list', {}, callerWith('read')), refusal('INTERNAL', 'Internal error'));
  assert.deepEqual([log.lines, outcomes], [[['error', 'a call failed']], [['workstream.list', 'INTERNAL']]]);
});

test('a GatewayError is passed on unchanged and is no error in the log', async () => {
  const thrown = new GatewayError('NOT_FOUND', 'Unknown workstream');
  const { dispatch, log } = setUp({ 'workstream.list': () => Promise.reject(thrown) });
  await assert.rejects(dispatch('workstream.list', {}, callerWith('read')), (error) => error === thrown);
  assert.deepEqual(log.lines, [['debug', 'a call was refused']]);
});

test('only a call with a key uses idempotency', async () => {
  const calls: Call[] = [];
  const { dispatch, keyed } = setUp({
    'workstream.create'(_, call) {
      calls.push(call);
      return { wsId: 'w', name: 'w', resumed: false, messageCount: 0 };
    },
  });
  const caller = callerWith('write');
  await dispatch('workstream.create', {}, caller);
  await dispatch('workstream.create', { idempotencyKey: 'k' }, caller);
  assert.deepEqual(keyed, [{ method: 'workstream.create', key: 'k', params: { idempotencyKey: 'k' }, caller }]);
  assert.deepEqual(
    calls.map(({ kept }) => kept),
    [undefined, 'before'],
  );
  assert.deepEqual(calls[0]?.keep('x'), []);
});

test('calls with the same serial key never overlap, others do', async () => {
  const running: string[] = [];
  let most = 0;
  const gates = new Map<string, () => void>();
  const { dispatch } = setUp({
    async 'workstream.command'({ wsId, command }) {
      running.push(wsId);
      most = Math.max(most, running.filter((id) => id === wsId).length);
      await new Promise<void>((open) => gates.set(command, open));
      running.splice(running.indexOf(wsId), 1);
      if (command === '1') throw new GatewayError('CONFLICT', 'no');
      return { status: 'ok', wsId };
    },
  });
  const caller = callerWith('write');
  const command = (wsId: string, text: string) => dispatch('workstream.command', { wsId, command: text }, caller);
  const first = command('a', '1').catch(() => 'failed');
  const second = command('a', '2');
  const third = command('b', '3');
  await new Promise(setImmediate);
  assert.deepEqual([...gates.keys()], ['1', '3'], 'the second of a waits, b does not');
  gates.get('1')?.();
  gates.get('3')?.();
  assert.deepEqual([await first, await third], ['failed', { status: 'ok', wsId: 'b' }]);
  await new Promise(setImmediate);
  gates.get('2')?.();
  assert.deepEqual([await second, most], [{ status: 'ok', wsId: 'a' }, 1]);
});

test('every row of the protocol has a scope', () => {
  const scopes = new Set(Object.keys(CONTRACTS).map((method) => CONTRACTS[method as MethodName].scope));
  assert.deepEqual([...scopes].sort(), ['approve', 'node', 'pairing', 'public', 'read', 'service', 'write']);
});
