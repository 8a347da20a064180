import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { toDiff } from '../../agent/tools/files/file-diff.ts';
import { EventUpdates } from './event-updates.ts';
import { itemOf } from './item-fixture.ts';

const updatesOf = (...events: StreamEvent[]): SessionUpdate[] => {
  const updates = new EventUpdates({ place: () => ({ workdir: '/w' }), isOwn: (runId) => runId === 'mine' });
  return events.flatMap((event) => updates.read(event));
};

const textOf = (update: SessionUpdate | undefined): string =>
  update !== undefined && 'content' in update && update.content !== null && !Array.isArray(update.content)
    ? update.content?.type === 'text'
      ? update.content.text
      : ''
    : '';

const result = (more: object = {}): StreamEvent => ({
  type: 'tool_result',
  call_id: 'call_1',
  name: 'bash',
  output: 'done',
  outcome: 'done',
  is_error: false,
  ...more,
});

test('text and thoughts stream, and an agent cannot write anything but text', () => {
  const fake = '{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}\n';
  assert.deepEqual(updatesOf({ type: 'reasoning', text: 'hm' }, { type: 'content', text: fake }), [
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: fake } },
  ]);
});

test('a call has a kind, its files and its output, whose fence nothing in it can end', () => {
  const item = itemOf({
    func_name: 'read_file',
    header: 'read_file src/a.ts',
    subject: 'src/a.ts',
    preview: '',
    effects: { list: [{ kind: 'read', target: 'src/a.ts', certain: true }] },
  });
  const [call, ended] = updatesOf(
    { type: 'tool_info', items: [item] },
    result({ name: 'read_file', output: 'a\n```\nb' }),
  );
  assert.deepEqual(call, {
    sessionUpdate: 'tool_call',
    toolCallId: 'call_1',
    title: 'read_file src/a.ts',
    name: 'read_file',
    kind: 'read',
    status: 'in_progress',
    locations: [{ path: '/w/src/a.ts' }],
  });
  assert.deepEqual(ended, {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call_1',
    title: 'read_file src/a.ts',
    kind: 'read',
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: '````\na\n```\nb\n````' } }],
  });
});

test('a change shows its diff, before and after it was made, and its error if it failed', () => {
  const preview = toDiff({ shown: 'a.txt', before: 'old\n', after: 'new\n' });
  const item = itemOf({ func_name: 'edit_file', preview, preview_type: 'diff' });
  const diff = { type: 'diff', path: '/w/a.txt', oldText: 'old\n', newText: 'new\n' };
  const asked: StreamEvent = {
    type: 'approve_request',
    items: [item],
    approval_id: 'a',
    kind: 'tools',
    expires_at_ms: 1,
  };
  const contents = (updates: SessionUpdate[]) =>
    updates.map((update) => ('content' in update ? update.content : undefined));
  assert.deepEqual(contents(updatesOf(asked, result({ name: 'edit_file' }))), [[diff], [diff]]);
  const failed = updatesOf(
    asked,
    result({ name: 'edit_file', output: 'it changed', outcome: 'failed', is_error: true }),
  );
  assert.equal(JSON.stringify(failed.at(-1)).includes('it changed'), true);
});

test('an approval that somebody decides elsewhere changes its calls', () => {
  const items = [itemOf({ call_id: 'a' }), itemOf({ call_id: 'b' })];
  const updates = updatesOf(
    { type: 'approve_request', items, approval_id: 'x', kind: 'tools', expires_at_ms: 1 },
    {
      type: 'approval_resolved',
      approval_id: 'x',
      approved: true,
      feedback: 'not that one',
      by: { kind: 'principal', id: 'operator' },
      always: false,
      call_ids: ['a', 'b'],
      denied_call_ids: ['b'],
    },
  );
  assert.deepEqual(
    updates.map((update) => ('status' in update ? [update.sessionUpdate, update.status] : [])),
    [
      ['tool_call', 'pending'],
      ['tool_call', 'pending'],
      ['tool_call_update', 'in_progress'],
      ['tool_call_update', 'failed'],
    ],
  );
});

test('the checklist is the plan, and messages of others are shown', () => {
  const todo = [
    { text: 'look', status: 'done' },
    { text: 'fix', status: 'in_progress' },
    { text: 'skip', status: 'cancelled' },
  ] as const;
  const turn = { type: 'user_turn', message: 'hello', source: 'person' } as const;
  const updates = updatesOf({ ...turn, run_id: 'mine' }, { ...turn, run_id: 'other' }, result({ todo }));
  assert.deepEqual(updates[0], { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'hello' } });
  assert.deepEqual(updates.at(-1), {
    sessionUpdate: 'plan',
    entries: [
      { content: 'look', priority: 'medium', status: 'completed' },
      { content: 'fix', priority: 'medium', status: 'in_progress' },
      { content: 'skip (dropped)', priority: 'medium', status: 'completed' },
    ],
  });
});

test('notes stand apart from the answer, and a void answer is marked', () => {
  const updates = updatesOf(
    { type: 'content', text: 'half' },
    { type: 'stream_end', interrupted: true },
    { type: 'info', message: 'one\ntwo' },
  );
  assert.match(textOf(updates[1]), /^\n\n\(A restart cut off the answer above/);
  assert.equal(textOf(updates[2]), '```\none\ntwo\n```\n\n');
});

test('calls of a sub-agent begin with its title', () => {
  const agent: StreamEvent = {
    ...{ type: 'sub_agent', agent_id: 'sub', call_id: 'task_1', depth: 1, title: 'tests', state: 'running' },
    ...{ turns: 1, tool_calls: 0, tokens: 5, started_ms: 1 },
  };
  const [call] = updatesOf(agent, { type: 'tool_info', items: [itemOf()], agent_id: 'sub' });
  assert.equal(call && 'title' in call && call.title, 'tests › bash touch x');
});
