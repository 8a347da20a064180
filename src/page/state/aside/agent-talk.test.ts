import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { AgentTalk } from './agent-talk.ts';

const MESSAGES = [
  { seq: 1, role: 'user', content: 'Look at it', tool_calls: null },
  {
    seq: 2,
    role: 'assistant',
    content: 'I look.',
    tool_calls: [{ id: 'c1', name: 'bash', arguments: '{"command":"ls"}' }],
  },
];

test('a sub-agent is found by the call that started it; what it began is over when it has ended', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('subagent.list', () => ({
    agents: [
      { agent_id: 'a0', call_id: 'other' },
      { agent_id: 'a1', call_id: 'call-1' },
    ],
  }));
  let state = 'running';
  answer('subagent.messages', () => ({ agent: { agent_id: 'a1', state }, messages: MESSAGES }));
  const talk = new AgentTalk({ client, wsId: 'ws', name: { callId: 'call-1' } });
  await talk.read();
  const phases = () => talk.talk.value?.blocks.map((block) => (block.kind === 'tool' ? block.phase : block.kind));
  assert.deepEqual(phases(), ['user', 'answer', 'running']);
  state = 'ended';
  await talk.read();
  assert.deepEqual(phases(), ['user', 'answer', 'cancelled']);
  assert.deepEqual(calls.at(-1), ['subagent.messages', { wsId: 'ws', agentId: 'a1' }]);
});

test('a call that has started no sub-agent is told', async () => {
  const { client, answer } = createFakeClient();
  answer('subagent.list', () => ({ agents: [] }));
  const talk = new AgentTalk({ client, wsId: 'ws', name: { callId: 'call-1' } });
  await talk.read();
  assert.deepEqual([talk.isMissing.value, talk.talk.value], [true, undefined]);
});
