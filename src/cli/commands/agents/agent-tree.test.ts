import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTree } from './agent-tree.ts';

const agent = (agent_id: string, more: object = {}) => ({
  ...{ agent_id, call_id: 'call_1', depth: 1, title: `Title of ${agent_id}`, state: 'running' as const },
  ...{ turns: 1, tool_calls: 2, tokens: 10, started_ms: 0, ...more },
});

test('sub-agents stand below the ones that started them, with their states and what they said last', () => {
  const tree = toTree([
    agent('agt_1', { last_output: 'Looking.\nMore.' }),
    agent('agt_2', { state: 'ended', outcome: 'cancelled', cancelled_by: 'tok_1' }),
    agent('agt_3', { parent_agent_id: 'agt_1', state: 'waiting', turns: 0, tool_calls: 0 }),
    agent('agt_4', { parent_agent_id: 'agt_gone', title: 'Bad\u001b[2J' }),
  ]);
  assert.deepEqual(tree.split('\n'), [
    '  agt_1  Title of agt_1: working, 1 turn, 2 calls',
    '    Looking.',
    '    agt_3  Title of agt_3: waiting',
    '  agt_2  Title of agt_2: cancelled by a person, 1 turn, 2 calls',
    '  agt_4  Bad: working, 1 turn, 2 calls',
    '',
  ]);
});
