import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { ConnectionLostError } from '../../../../protocol/client/request-error.ts';
import { FIRST_TASK, Guide } from './guide.ts';
import { toOrigin, toTaskWords, toTestWords } from './guide-words.ts';

test('the guide opens by itself where nobody has worked, and not again after it was left', async () => {
  const { guide, stored, again } = open();
  await guide.offer();
  const offered = guide.isOpen.value;
  guide.leave();
  await guide.offer();
  const next = again();
  await next.offer();
  assert.deepEqual(
    [offered, guide.isOpen.value, next.isOpen.value, [...stored]],
    [true, false, false, [['headgate.first-steps', 'left']]],
  );
  next.open();
  assert.equal(next.isOpen.value, true, 'a person can open it again');
});

for (const [what, setting] of Object.entries({
  'with saved conversations': { saved: ['one'] },
  'with several workstreams': { tabs: 2 },
  'without storage': { noStorage: true },
}))
  test(`the guide does not open by itself ${what}`, async () => {
    const { guide } = open(setting);
    await guide.offer();
    assert.equal(guide.isOpen.value, false);
  });

test('the guide that opened by itself ends when a person opens a workstream', async () => {
  const { guide, tabs } = open();
  await guide.offer();
  const before = guide.isOpen.value;
  tabs.value = ['main', 'own'];
  const after = guide.isOpen.value;
  guide.open();
  assert.deepEqual([before, after, guide.isOpen.value], [true, false, true]);
});

test('a test of a model shows its result, also if the daemon refuses it', async () => {
  const { guide, answers } = open();
  const testing = guide.test('claude');
  const during = guide.tested.value.get('claude');
  await testing;
  answers['models.test'] = () => Promise.reject(new Error('too many requests'));
  await guide.test('other');
  assert.deepEqual([during, guide.tested.value.get('claude')], ['waiting', { ok: true, name: 'c', elapsedMs: 40 }]);
  assert.deepEqual(guide.tested.value.get('other'), {
    ...{ ok: false, elapsedMs: 0, problem: { kind: 'interrupted', text: 'too many requests' } },
  });
});

test('the task starts in a new workstream with the model and the folder, and leaves the steps', async () => {
  const { guide, calls } = open();
  guide.open();
  await guide.startTask({ model: 'claude', workdir: '/srv/app' });
  assert.deepEqual(calls, [
    ['create', { name: 'First steps', model: 'claude', workdir: '/srv/app', idempotencyKey: 'key1' }],
    ['workstream.send', { wsId: 'ws-new', message: FIRST_TASK, idempotencyKey: 'key1' }],
  ]);
  assert.deepEqual([guide.isOpen.value, guide.task.value], [false, 'ws-new']);
});

test('a start that is cut off and repeated creates no second workstream and sends no second task', async () => {
  const { guide, calls, answers } = open();
  answers['workstream.send'] = () => {
    delete answers['workstream.send'];
    throw new ConnectionLostError('closed');
  };
  await guide.startTask({ model: '', workdir: '' });
  assert.deepEqual(calls, [
    ['create', { name: 'First steps', idempotencyKey: 'key1' }],
    ['create', { name: 'First steps', idempotencyKey: 'key1' }],
    ['workstream.send', { wsId: 'ws-new', message: FIRST_TASK, idempotencyKey: 'key1' }],
  ]);
});

test('a folder that the daemon refuses leaves the steps open', async () => {
  const { guide, refuse } = open();
  guide.open();
  refuse(new Error('not allowed'));
  await assert.rejects(guide.startTask({ model: 'demo', workdir: '/etc' }), /not allowed/);
  assert.deepEqual([guide.isOpen.value, guide.task.value], [true, undefined]);
});

test('the guide explains the first task until it is done, and no later one', async () => {
  const { guide } = open();
  await guide.startTask({ model: 'demo', workdir: '' });
  const shown = [false, true, true, false, true].map((isDone) => {
    guide.follow(isDone);
    return guide.task.value;
  });
  assert.deepEqual(shown, ['ws-new', 'ws-new', 'ws-new', undefined, undefined]);
});

test('the words say what happens and what to do', () => {
  assert.match(toTestWords({ ok: true, name: 'opus', elapsedMs: 420 }), /opus answered in 0\.4 s/);
  assert.match(
    toTestWords({ ok: false, elapsedMs: 1, problem: { kind: 'unauthorized', text: 'Wrong key.' } }),
    /^Wrong key\. Check the key/,
  );
  assert.match(toOrigin({ provider: 'demo', id: 'demo' }), /offline/);
  const states = (['thinking', 'attention', 'error', 'idle'] as const).map((state) => toTaskWords(state, true));
  assert.equal(new Set([...states, toTaskWords('idle', false)]).size, 5);
});

interface Setting {
  saved?: string[];
  tabs?: number;
  noStorage?: boolean;
}

function open({ saved = [], tabs: count = 1, noStorage = false }: Setting = {}) {
  const tabs = signal<unknown[]>(Array.from({ length: count }));
  const stored = new Map<string, string>();
  const calls: [string, unknown][] = [];
  const answers: Record<string, () => Promise<unknown>> = {
    'workstream.saved': async () => ({ workstreams: saved }),
    'models.test': async () => ({ ok: true, name: 'c', elapsedMs: 40 }),
  };
  let keys = 0;
  let refusal: Error | undefined;
  const lasting = {
    getItem(key: string) {
      if (noStorage) throw new Error('switched off');
      return stored.get(key) ?? null;
    },
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  const call = async (method: string, params: unknown) => {
    const answer = answers[method];
    if (answer) return answer();
    calls.push([method, params]);
    return {};
  };
  const workstreams = {
    tabs,
    front: { peek: () => ({ wsId: 'ws-new' }) },
    async create(params: unknown) {
      if (refusal) throw refusal;
      calls.push(['create', params]);
    },
  };
  const port = {
    client: { call },
    workstreams,
    lasting,
    newKey: () => `key${++keys}`,
  } as unknown as ConstructorParameters<typeof Guide>[0];
  const refuse = (error: Error) => {
    refusal = error;
  };
  return { guide: new Guide(port), again: () => new Guide(port), stored, calls, answers, refuse, tabs };
}
