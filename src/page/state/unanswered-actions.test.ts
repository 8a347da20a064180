import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError, RequestError } from '../../../protocol/client/request-error.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { openActions as open } from './actions-fixture.ts';
import { snapshot } from './conversation/conversation-fixture.ts';

test('a message whose time is up is sent again with the same key, also by a person who has not changed it', async () => {
  const { actions, tab, calls, answer } = open();
  const keys = () => calls.map(([, params]) => (params as { idempotencyKey: string }).idempotencyKey);
  answer('workstream.send', () => {
    throw new RequestError('TIMEOUT', 'no answer', { retryable: true });
  });
  tab.draft.value = 'hello';
  await actions.submit(tab);
  assert.deepEqual([tab.draft.value, tab.problem.value, keys()], ['hello', 'no answer', Array(3).fill('key1')]);
  await actions.submit(tab, { steer: true });
  assert.deepEqual(new Set(keys()), new Set(['key1']));
  tab.draft.value = '';
  tab.draft.value = 'hello';
  await actions.submit(tab);
  assert.deepEqual(keys().slice(6), Array(3).fill('key2'), 'typed again, it is another message');
});

test('the files that a message mentions are uploaded once, and the repeat names the same ones', async () => {
  let uploads = 0;
  const { actions, tab, calls, answer } = open({
    upload: async () => ({ attachment_id: `f${++uploads}` }) as Attachment,
  });
  answer('file.read', () => ({ path: 'a.txt', text: 'x', lines: 1, last: 1, cut: false }));
  const sent = () => calls.filter(([method]) => method === 'workstream.send').map(([, params]) => params);
  answer('workstream.send', () => {
    if (sent().length === 1) throw new ConnectionLostError('gone');
    return { status: 'ok' };
  });
  tab.draft.value = 'look at @a.txt';
  await actions.submit(tab);
  const params = { wsId: 'w', message: 'look at @a.txt', queue: true, attachmentIds: ['f1'], idempotencyKey: 'key1' };
  assert.deepEqual([sent(), uploads, tab.draft.value], [[params, params], 1, '']);
});

test('a decision that counted although its answer was lost is no problem, unless somebody decided otherwise', async () => {
  const { actions, tab, answer, deliver } = open();
  const about = { approval_id: 'a1', kind: 'tools' as const, items: [], expires_at_ms: 9 };
  deliver('w').onSnapshot(snapshot(), 'e:0');
  deliver('w').onEvent({ type: 'approve_request', ...about }, 'e:1');
  const refused = new RequestError('CONFLICT', 'decided already');
  const decide = (approved: boolean, outcomes: Error[]) => {
    answer('approval.resolve', () => {
      throw outcomes.shift() ?? refused;
    });
    return actions.decide(tab, { approvalId: 'a1', approved });
  };
  const lost = new ConnectionLostError('gone');
  assert.equal(await decide(true, []), false, 'without a loss, somebody else has decided');
  assert.deepEqual([await decide(true, [lost]), tab.problem.value], [true, undefined]);
  const by = { kind: 'principal', id: 'bob' } as const;
  const resolved = { approved: false, feedback: '', by, always: false, call_ids: [] };
  deliver('w').onEvent({ type: 'approval_resolved', approval_id: 'a1', ...resolved }, 'e:2');
  assert.deepEqual([await decide(true, [lost]), tab.problem.value], [false, 'decided already']);
  assert.equal(await decide(false, [lost]), true);
});

test('after a lost answer, stopping stops only what ran and waited before, and returns what had not begun', async () => {
  const { actions, tab, calls, answer, deliver } = open();
  deliver('w').onSnapshot(snapshot(), 'e:0');
  const waiting = (runId: string, message: string) => ({ runId, message, source: 'person', sender: 'ada' }) as const;
  tab.queue.value = [waiting('later', 'two'), waiting('answered', 'three')];
  answer('workstream.cancel', () => {
    throw new ConnectionLostError('gone');
  });
  answer('chat.abort', () => ({ ok: true, aborted: false }));
  answer('agent.wait', ({ runId }: { runId: string }) =>
    runId === 'later' ? { runId, status: 'error', endedAt: 2 } : { runId, status: 'ok', startedAt: 1, endedAt: 2 },
  );
  assert.equal(await actions.cancel(tab, false), false);
  const abort = (runId: string) => ['chat.abort', { sessionKey: 'w', runId }];
  const wait = (runId: string) => ['agent.wait', { runId, timeoutMs: 0 }];
  const cancel = ['workstream.cancel', { wsId: 'w' }];
  assert.deepEqual(calls, [cancel, abort('later'), wait('later'), abort('answered'), wait('answered')]);
  assert.match(tab.problem.value ?? '', /may have been carried out/);
  assert.equal(tab.draft.value, 'two');
  deliver('w').onEvent({ type: 'user_turn', message: 'one', run_id: 'now', source: 'person' }, 'e:1');
  tab.queue.value = [];
  assert.equal(await actions.cancel(tab, false), true);
  assert.deepEqual(calls.slice(5), [cancel, abort('now')]);
});
