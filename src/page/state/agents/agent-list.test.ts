import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import { agentTitle, withAgent, withWorking } from './agent-list.ts';

const agent = (id: string, parent?: string): SubAgent => ({
  ...{
    agent_id: id,
    call_id: `call_${id}`,
    depth: parent === undefined ? 1 : 2,
    title: `Task ${id}`,
    state: 'running',
  },
  ...{ turns: 0, tool_calls: 0, tokens: 0, started_ms: 1 },
  ...(parent !== undefined && { parent_agent_id: parent }),
});

const idsOf = (agents: readonly SubAgent[]) => agents.map(({ agent_id }) => agent_id);

test('sub-agents stand below the one that started them', () => {
  const all = [agent('a'), agent('b'), agent('a1', 'a'), agent('b1', 'b'), agent('a2', 'a'), agent('a11', 'a1')];
  assert.deepEqual(idsOf(all.reduce(withAgent, [])), ['a', 'a1', 'a11', 'a2', 'b', 'b1']);
});

test('a change replaces the sub-agent in its place', () => {
  const ended: SubAgent = { ...agent('a'), state: 'ended', outcome: 'done' };
  assert.deepEqual(withAgent([agent('a'), agent('b')], ended), [ended, agent('b')]);
});

test('a sub-agent that started before the page was opened has no title', () => {
  assert.deepEqual(
    [agentTitle([agent('a')], { agent_id: 'a' }), agentTitle([], { agent_id: 'a' }), agentTitle([agent('a')], {})],
    ['Task a', 'unknown', undefined],
  );
});

test('those of a list that work are added, and what events have said of others stays', () => {
  const ended: SubAgent = { ...agent('a'), state: 'ended', outcome: 'done' };
  const listed = [agent('a'), agent('b'), { ...ended, agent_id: 'old' }, agent('a1', 'a')];
  assert.deepEqual(idsOf(withWorking([ended], listed)), ['a', 'a1', 'b']);
  assert.equal(withWorking([ended], listed)[0], ended);
});
