import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeToolbox } from '../run/fake-toolbox.ts';
import { createToolFixture } from '../tools/tool-fixture.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { mayHave, narrowedToolbox } from './narrow-rights.ts';

/** Its models are told of five tools, and find others with a search. */
function searchable(): Toolbox {
  const known = (call: { arguments: string }) => ({ calls: String(JSON.parse(call.arguments).name) });
  const offered = ['look', 'touch', 'watch', 'find_tool', 'use_tool'];
  return {
    ...fakeToolbox({ use_tool: { known } }),
    definitions: () => offered.map((name) => ({ name, description: '', parameters: {} })),
    isFound: (name) => name.startsWith('mcp__'),
  };
}

/** What a sub-agent with these tools can call: directly, and with `use_tool`. */
async function callable(only: string[] | undefined) {
  await using at = await createToolFixture();
  const toolbox = narrowedToolbox(searchable(), { only, isDeepest: false });
  const isReady = async (name: string, args = {}) => {
    const call = { id: '1', name, arguments: JSON.stringify(args) };
    return (await toolbox.prepare(call, at.context())).kind === 'ready';
  };
  const found: string[] = [];
  for (const name of ['look', 'watch', 'mcp__a__x', 'mcp__a__y']) if (await isReady(name)) found.push(name);
  for (const name of ['mcp__a__x', 'mcp__a__y']) if (await isReady('use_tool', { name })) found.push(`use ${name}`);
  return { offered: toolbox.definitions().map(({ name }) => name), found };
}

test('a sub-agent can be limited to one of the tools that its parent finds with a search', async () => {
  assert.deepEqual(await callable(['look', 'mcp__a__x']), {
    offered: ['look', 'find_tool', 'use_tool'],
    found: ['look', 'mcp__a__x', 'use mcp__a__x'],
  });
  const tools = ['mcp__a__x', 'look', 'watch', 'nothing'];
  assert.deepEqual(
    tools.filter((name) => mayHave(searchable(), name)),
    ['mcp__a__x', 'look'],
  );
});

test('a sub-agent that was given other tools cannot call one that models are not told of', async () => {
  assert.deepEqual(await callable(['look']), { offered: ['look'], found: ['look'] });
  const all = ['use mcp__a__x', 'use mcp__a__y'];
  assert.deepEqual((await callable(['use_tool'])).found, all);
  assert.deepEqual((await callable(undefined)).found, ['look', 'mcp__a__x', 'mcp__a__y', ...all]);
});
