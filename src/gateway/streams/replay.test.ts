import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { asSnapshot, replay } from './replay.ts';

const item = (callId: string, more: Partial<ApprovalItem> = {}): ApprovalItem => ({
  ...{ call_id: callId, header: callId, subject: '', preview: '', func_name: callId, approval_label: callId },
  ...{ needs_approval: true, error: null },
  ...more,
});

const asked = (id: string, items: ApprovalItem[], more: object = {}): StreamEvent => ({
  ...{ type: 'approve_request', approval_id: id, kind: 'tools', items, expires_at_ms: 1 },
  ...more,
});

const decided = (id: string): StreamEvent => ({
  ...{ type: 'approval_resolved', approval_id: id, approved: true, feedback: '', by: { kind: 'principal', id: 'ada' } },
  ...{ always: false, call_ids: [] },
});

async function replayed(events: StreamEvent[]): Promise<StreamEvent[]> {
  const stored = events.map((event, index) => ({ offset: index + 1, json: JSON.stringify(event) }));
  const log = { epoch: 'e', page: async (_wsId: string, after: number) => stored.slice(after) };
  const frames = await replay(log, 'ws', { after: 0, upTo: events.length, maxChars: 1_000_000 });
  return (frames ?? assert.fail('too long')).map(({ json }) => JSON.parse(json));
}

test('a decided question of a sub-agent is replayed as calls of that sub-agent', async () => {
  const [info] = await replayed([asked('a', [item('c')], { agent_id: 'agt_1' }), decided('a')]);
  assert.deepEqual(info, { type: 'tool_info', items: [item('c')], agent_id: 'agt_1' });
});

test('a decided question that a call asked while it ran is left out of a replay; a call that is a question is shown', async () => {
  const question = { text: 'Port?', choices: [] };
  const own = item('remote');
  const answered = item('ask_user', { question });
  const events = await replayed([
    { type: 'tool_info', items: [own] },
    ...[asked('a', [{ ...own, question }]), decided('a')],
    ...[asked('b', [answered]), decided('b')],
    asked('c', [{ ...own, question }]),
  ]);
  assert.deepEqual(
    events.map((event) => [event.type, 'items' in event ? event.items : undefined]),
    [
      ['tool_info', [own]],
      ['approval_resolved', undefined],
      ['tool_info', [answered]],
      ['approval_resolved', undefined],
      ['approve_request', [{ ...own, question }]],
    ],
  );
});

test('a snapshot has only the text of the latest turn, after the events of earlier ones', () => {
  const answer = (text: string): object[] => [{ type: 'thinking_start' }, { type: 'content', text }];
  const end = (interrupted = false) => ({ type: 'stream_end', ...(interrupted && { interrupted }) });
  const events = [...answer('one'), end(), { type: 'tool_info' }, ...answer('void'), end(true), ...answer('two')];
  const frames = events.map((event, index) => ({ id: `e:${index}`, json: JSON.stringify(event) }));
  const shown = asSnapshot('ws', frames).map(({ json }): { type: string; text?: string; content?: string } =>
    JSON.parse(json),
  );
  assert.deepEqual(
    shown.map(({ type, text, content }) => [type, text ?? content]),
    [
      ['thinking_start', undefined],
      ['content', 'one'],
      ['stream_end', undefined],
      ['tool_info', undefined],
      ['in_progress_snapshot', 'two'],
      ['thinking_start', undefined],
      ['stream_end', undefined],
      ['thinking_start', undefined],
    ],
  );
});
